import { useState } from "react";
import { Button } from "~/ui/button";
import { PrefixedField } from "~/ui/fields";
import { specJson, specValues } from "./table-facts";

interface SpecFieldsProps {
  readonly keys: readonly string[];
  readonly spec: string | undefined;
  readonly onSpec: (spec: string | undefined) => void;
}

/** Narrows to partitions by the values of some or all of their keys. */
export function SpecFields({ keys, spec, onSpec }: SpecFieldsProps) {
  const [values, setValues] = useState(() => specValues(spec));
  if (keys.length === 0) return null;
  return (
    <form
      style={{ display: "contents" }}
      onSubmit={(event) => {
        event.preventDefault();
        onSpec(specJson(values));
      }}
    >
      {keys.map((key) => (
        <PrefixedField
          key={key}
          label={key}
          mono
          width={110}
          placeholder="any"
          value={values[key] ?? ""}
          onChange={(value) => setValues({ ...values, [key]: value })}
        />
      ))}
      <Button type="submit">Filter</Button>
      {spec !== undefined && (
        <Button
          look="quiet"
          onClick={() => {
            setValues({});
            onSpec(undefined);
          }}
        >
          Clear filter
        </Button>
      )}
    </form>
  );
}
