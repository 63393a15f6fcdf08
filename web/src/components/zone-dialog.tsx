import { useNavigate } from "@tanstack/react-router";
import { Dialog } from "~/ui/dialog";
import { Time } from "~/ui/values";
import { zoneStore } from "~/ui/zone";
import { ZoneSelect } from "~/ui/zone-select";

export default function ZoneDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <Dialog title="Time zone" onClose={onClose} size="narrow">
      <p>
        All times are shown in this zone. Now it is <Time at={new Date().toISOString()} precision="minute" />.
      </p>
      <ZoneSelect
        onChange={(zone) => {
          zoneStore.set(zone);
          // A link may bring a zone along: the choice takes its place.
          const tz = zone === "local" ? undefined : zone;
          void navigate({ to: ".", search: ((before: object) => ({ ...before, tz })) as never, replace: true });
        }}
      />
    </Dialog>
  );
}
