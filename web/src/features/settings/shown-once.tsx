import { Button } from "~/ui/button";
import { CopyButton } from "~/ui/copy-button";
import { Dialog } from "~/ui/dialog";
import { Mono } from "~/ui/values";

interface ShownOnceProps {
  readonly title: string;
  readonly secret: string;
  readonly what: string;
  readonly children: string;
  readonly onClose: () => void;
}

/** A secret that nobody will see again. Stays until it is closed on purpose. */
export function ShownOnce({ title, secret, what, children, onClose }: ShownOnceProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      locked
      foot={
        <Button look="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <p>{children}</p>
      <p style={{ overflowWrap: "anywhere", margin: "10px 0" }}>
        <Mono>{secret}</Mono>
      </p>
      <CopyButton text={secret} what={what}>
        Copy
      </CopyButton>
    </Dialog>
  );
}
