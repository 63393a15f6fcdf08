import { useState } from "react";
import { fetchClient } from "~/api/client";
import { AsCommand } from "~/components/as-command";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { FieldStack, TextField } from "~/ui/fields";
import { FormError } from "~/ui/front-page";
import { PLAIN_RIGHTS, RightsFields, rightsBody } from "./rights-fields";
import { ShownOnce } from "./shown-once";
import { useChange } from "./use-change";

interface TokenDialogProps {
  /** Who is signed in. */
  readonly person: string;
  /** One's own: a token may not have more. */
  readonly grants: readonly string[];
  readonly onClose: () => void;
}

export function TokenDialog({ person, grants, onClose }: TokenDialogProps) {
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [rights, setRights] = useState({ ...PLAIN_RIGHTS, ofRole: false, grants: grants.join("\n") });
  const [secret, setSecret] = useState<string>();
  const { grants: wanted, ...rest } = rightsBody(rights);
  const body = { name: name.trim(), expires_in_days: Number(days), ...rest, grants: wanted ?? [] };
  const create = useChange({
    call: async () => {
      const { data, error, response } = await fetchClient.POST("/api/v1/account/tokens", { body });
      return { response, error, data: data?.secret };
    },
    rereads: ["/api/v1/account/tokens", "/api/v1/tokens"],
    onDone: setSecret,
  });
  if (secret !== undefined) {
    return (
      <ShownOnce title={`Token ${name}`} secret={secret} what="token" onClose={onClose}>
        This token is shown only now; Pegel keeps no copy. Programs send it as a bearer token, as the curl lines do from
        $PEGEL_TOKEN.
      </ShownOnce>
    );
  }
  const goodDays = /^\d{1,3}$/.test(days) && Number(days) >= 1 && Number(days) <= 365;
  const missing = name.trim() === "" ? "Give it a name" : goodDays ? undefined : "Its life is 1 to 365 days";
  const { failure } = create;
  return (
    <Dialog
      title="Create an access token"
      onClose={onClose}
      locked={create.busy}
      foot={
        <>
          <Button look="primary" busy={create.busy} disabledReason={missing} reasonBeside onClick={() => create.run()}>
            Create
          </Button>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      <FieldStack>
        {failure && failure.fields.size === 0 && (
          <FormError>
            <b>{failure.title}.</b> {failure.detail} {failure.hint}
          </FormError>
        )}
        <TextField
          label="Name"
          description="What uses it"
          required
          maxLength={64}
          value={name}
          onChange={setName}
          error={failure?.fields.get("/name")}
        />
        <TextField
          label="Life, days"
          description="1 to 365"
          inputMode="numeric"
          mono
          value={days}
          onChange={setDays}
          error={failure?.fields.get("/expires_in_days")}
        />
        <RightsFields draft={rights} onChange={setRights} errors={failure?.fields} mayHaveThoseOfRole={false} />
        <AsCommand method="POST" path="account/tokens" body={body} person={person} />
      </FieldStack>
    </Dialog>
  );
}
