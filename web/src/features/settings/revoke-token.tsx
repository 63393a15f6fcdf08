import type { Token } from "~/api/access";
import { AsCommand } from "~/components/as-command";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { FormError } from "~/ui/front-page";
import { useChange } from "./use-change";

interface RevokeTokenProps {
  readonly token: Token;
  /** The path of the call below /api/v1/, and who asks where a token may not. */
  readonly path: string;
  readonly person: string | undefined;
  readonly call: () => Promise<{ error?: unknown; response: Response }>;
  readonly onClose: () => void;
}

export function RevokeToken({ token, path, person, call, onClose }: RevokeTokenProps) {
  const revoke = useChange({
    call,
    rereads: ["/api/v1/tokens", "/api/v1/account/tokens"],
    onDone: onClose,
  });
  return (
    <Dialog
      title={`Revoke ${token.name}`}
      onClose={onClose}
      locked={revoke.busy}
      foot={
        <>
          <Button look="danger" busy={revoke.busy} onClick={() => revoke.run()}>
            Revoke
          </Button>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      {revoke.failure && (
        <FormError>
          <b>{revoke.failure.title}.</b> {revoke.failure.detail}
        </FormError>
      )}
      <p>Whatever uses it is refused from now on. This cannot be undone; another token can be made.</p>
      <AsCommand method="DELETE" path={path} person={person} />
    </Dialog>
  );
}
