import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fetchClient } from "~/api/client";
import { failureOf } from "~/api/errors";
import { sessionQuery } from "~/api/session";
import { AsCommand } from "~/components/as-command";
import { useOnceAtATime } from "~/components/use-once-at-a-time";
import { PASSWORD_VARIABLE, shellVariable } from "~/lib/shell";
import { Button } from "~/ui/button";
import { FieldStack, PasswordField } from "~/ui/fields";
import { FormError } from "~/ui/front-page";

/** As the server has it: bytes, not characters. */
const LEAST_BYTES = 12;

/** The form that changes one's own password; other sessions end with it. */
export function ChangePasswordForm({ onDone }: { readonly onDone: () => void }) {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [again, setAgain] = useState("");
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: async () => {
      const { error, response } = await fetchClient.POST("/api/v1/account/password", {
        body: { current_password: current, new_password: next },
      });
      if (!response.ok) throw error;
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
      onDone();
    },
  });
  const submit = useOnceAtATime(() => change.mutateAsync());
  const failure = change.error === null ? undefined : failureOf(change.error);
  const missing = reasonNotReady(current, next, again);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (missing === undefined) submit();
      }}
    >
      <FieldStack>
        {failure !== undefined && failure.fields.size === 0 && (
          <FormError>
            <b>{failure.title}.</b> {failure.detail}
          </FormError>
        )}
        <PasswordField
          label="Password so far"
          value={current}
          onChange={setCurrent}
          autoComplete="current-password"
          required
          error={failure?.fields.get("/current_password")}
        />
        <PasswordField
          label="New password"
          description={`At least ${LEAST_BYTES} characters; a few words are fine`}
          value={next}
          onChange={setNext}
          autoComplete="new-password"
          required
          error={failure?.fields.get("/new_password")}
        />
        <PasswordField
          label="New password again"
          value={again}
          onChange={setAgain}
          autoComplete="new-password"
          required
        />
        <div>
          <Button type="submit" look="primary" busy={change.isPending} disabledReason={missing} reasonBeside>
            Change password
          </Button>
        </div>
      </FieldStack>
    </form>
  );
}

function reasonNotReady(current: string, next: string, again: string): string | undefined {
  if (current === "") return "Type the password so far";
  if (new TextEncoder().encode(next).length < LEAST_BYTES) return "The new password is too short";
  if (next === current) return "The new password is the old one";
  if (again !== next) return "The two new passwords differ";
  return undefined;
}

/** The same for a terminal. */
export function PasswordCommand({ person }: { readonly person: string }) {
  return (
    <AsCommand
      method="POST"
      path="account/password"
      body={{ current_password: shellVariable(PASSWORD_VARIABLE), new_password: shellVariable("PEGEL_NEW_PASSWORD") }}
      variables={["PEGEL_NEW_PASSWORD"]}
      person={person}
    />
  );
}
