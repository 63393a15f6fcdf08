import { Dialog } from "~/ui/dialog";
import { Time } from "~/ui/values";
import { ZoneSelect } from "~/ui/zone-select";

export default function ZoneDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Time zone" onClose={onClose} size="narrow">
      <p>
        All times are shown in this zone. Now it is <Time at={new Date().toISOString()} precision="minute" />.
      </p>
      <ZoneSelect />
    </Dialog>
  );
}
