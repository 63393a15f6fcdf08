import { useMemo } from "react";
import { offsetText, resolveZone } from "~/lib/instant";
import { SelectField } from "./select-field";
import { useStore } from "./use-store";
import { zoneStore } from "./zone";

/** Chooses the zone of all times shown. */
export function ZoneSelect({ label = "Time zone" }: { readonly label?: string }) {
  const zone = useStore(zoneStore);
  const options = useMemo(() => {
    const now = Math.floor(Date.now() / 1000);
    const rest = Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC");
    return [
      { value: "local", label: `Browser: ${resolveZone("local")} (${offsetText(now, "local")})` },
      { value: "UTC", label: "UTC" },
      ...rest.map((name) => ({ value: name, label: `${name} (${offsetText(now, name)})` })),
    ];
  }, []);
  return <SelectField label={label} options={options} value={zone} searchable onChange={zoneStore.set} />;
}
