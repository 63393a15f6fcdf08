import { useMemo } from "react";
import { offsetText, resolveZone, type Zone } from "~/lib/instant";
import { SelectField } from "./select-field";
import { useZone } from "./zone";

/** Chooses the zone of all times shown. */
export function ZoneSelect({ onChange }: { readonly onChange: (zone: Zone) => void }) {
  const zone = useZone();
  const options = useMemo(() => {
    const now = Math.floor(Date.now() / 1000);
    const rest = Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC");
    return [
      { value: "local", label: `Browser: ${resolveZone("local")} (${offsetText(now, "local")})` },
      { value: "UTC", label: "UTC" },
      ...rest.map((name) => ({ value: name, label: `${name} (${offsetText(now, name)})` })),
    ];
  }, []);
  return <SelectField label="Time zone" options={options} value={zone} searchable onChange={onChange} />;
}
