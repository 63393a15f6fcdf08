import { Select } from "@mantine/core";
import { KitProvider } from "./kit-provider";

interface SelectFieldProps {
  readonly label: string;
  readonly description?: string;
  readonly error?: string | undefined;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly value: string | null;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  /** Narrows the list by what is typed; for long lists. */
  readonly searchable?: boolean;
}

/** One choice of a list; with a search where the list is long. */
export function SelectField({ options, onChange, searchable = false, ...others }: SelectFieldProps) {
  return (
    <KitProvider>
      <Select
        {...others}
        data={[...options]}
        searchable={searchable}
        limit={60}
        allowDeselect={false}
        checkIconPosition="right"
        nothingFoundMessage="Nothing matches"
        maxDropdownHeight={260}
        comboboxProps={{ withinPortal: false, floatingStrategy: "fixed" }}
        // What stands there is replaced by what is typed.
        onClick={(event) => searchable && event.currentTarget.select()}
        onChange={(value) => value !== null && onChange(value)}
      />
    </KitProvider>
  );
}
