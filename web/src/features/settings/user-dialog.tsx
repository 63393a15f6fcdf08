import { useState } from "react";
import type { User } from "~/api/access";
import { fetchClient } from "~/api/client";
import { AsCommand } from "~/components/as-command";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { FieldStack, TextField } from "~/ui/fields";
import { FormError } from "~/ui/front-page";
import { PLAIN_RIGHTS, RightsFields, rightsBody, rightsDraft } from "./rights-fields";
import { ShownOnce } from "./shown-once";
import { useChange } from "./use-change";

/** Makes a user or changes one. */
export function UserDialog({ user, onClose }: { readonly user?: User; readonly onClose: () => void }) {
  const [name, setName] = useState(user?.name ?? "");
  const [display, setDisplay] = useState(user?.display_name ?? "");
  const [rights, setRights] = useState(user === undefined ? PLAIN_RIGHTS : rightsDraft(user));
  const [password, setPassword] = useState<string>();
  const body = { display_name: display, ...rightsBody(rights) };
  const forNew = { ...body, name, ...(display === "" ? { display_name: name } : {}) };
  const forChange = user && { ...body, is_disabled: Boolean(user.disabled_at), version: user.version };
  const save = useChange({
    call: async () => {
      if (user === undefined || forChange === undefined) {
        const made = await fetchClient.POST("/api/v1/users", { body: forNew });
        return { response: made.response, error: made.error, data: made.data?.password };
      }
      const changed = await fetchClient.PUT("/api/v1/users/{id}", {
        params: { path: { id: user.id } },
        body: forChange,
      });
      return { response: changed.response, error: changed.error };
    },
    rereads: ["/api/v1/users"],
    onDone: (made) => (made === undefined ? onClose() : setPassword(made)),
  });
  if (password !== undefined) {
    return (
      <ShownOnce title={`${name} may sign in`} secret={password} what="password" onClose={onClose}>
        This password is shown only now. It has to be changed when signing in for the first time.
      </ShownOnce>
    );
  }
  const { failure } = save;
  return (
    <Dialog
      title={user === undefined ? "Create a user" : `Change ${user.name}`}
      onClose={onClose}
      locked={save.busy}
      foot={
        <>
          <Button
            look="primary"
            busy={save.busy}
            disabledReason={name.trim() === "" ? "Give a name to sign in with" : undefined}
            reasonBeside
            onClick={() => save.run()}
          >
            {user === undefined ? "Create" : "Save"}
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
        {user === undefined && (
          <TextField
            label="Name to sign in with"
            required
            value={name}
            onChange={setName}
            autoCapitalize="none"
            error={failure?.fields.get("/name")}
          />
        )}
        <TextField
          label="Name shown"
          value={display}
          onChange={setDisplay}
          error={failure?.fields.get("/display_name")}
        />
        <RightsFields draft={rights} onChange={setRights} errors={failure?.fields} mayHaveThoseOfRole />
        {user === undefined ? (
          <AsCommand method="POST" path="users" body={forNew} />
        ) : (
          <AsCommand method="PUT" path={`users/${user.id}`} body={forChange} />
        )}
      </FieldStack>
    </Dialog>
  );
}
