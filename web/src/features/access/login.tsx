import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fetchClient } from "~/api/client";
import { failureOf } from "~/api/errors";
import { type Session, sessionQuery } from "~/api/session";
import { useOnceAtATime } from "~/components/use-once-at-a-time";
import { Button } from "~/ui/button";
import { PasswordField, TextField } from "~/ui/fields";
import { FormError, FrontPage } from "~/ui/front-page";

/** Signs in; `onDone` leads on. */
export function Login({ onDone }: { readonly onDone: (session: Session) => void }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const queries = useQueryClient();
  const login = useMutation({
    mutationFn: async () => {
      const { data, error } = await fetchClient.POST("/api/v1/session", { body: { name, password } });
      if (data === undefined) throw error;
      return data;
    },
    onSuccess: (session) => {
      queries.setQueryData(sessionQuery.queryKey, session);
      onDone(session);
    },
  });
  const submit = useOnceAtATime(() => login.mutateAsync());
  const failure = login.error === null ? undefined : failureOf(login.error);
  return (
    <FrontPage
      title="Sign in"
      foot="A forgotten password is reset by an administrator. The first one is printed by the server at its first start."
    >
      <form
        style={{ display: "contents" }}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {failure !== undefined && (
          <FormError>
            <b>{failure.title}.</b> {failure.code === "login_failed" ? "" : failure.detail}
          </FormError>
        )}
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          autoComplete="username"
          autoCapitalize="none"
          required
          autoFocus
        />
        <PasswordField
          label="Password"
          value={password}
          onChange={setPassword}
          autoComplete="current-password"
          required
        />
        <Button type="submit" look="primary" busy={login.isPending}>
          Sign in
        </Button>
      </form>
    </FrontPage>
  );
}
