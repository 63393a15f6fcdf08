import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { sessionQuery } from "~/api/session";
import { ChangePasswordForm, PasswordCommand } from "~/features/access/change-password";
import { FirstRun } from "~/features/clusters/first-run";

export function FirstRunPage() {
  const { data: session } = useSuspenseQuery(sessionQuery);
  const navigate = useNavigate();
  return (
    <FirstRun
      session={session}
      passwordForm={
        <>
          <ChangePasswordForm onDone={() => undefined} />
          <PasswordCommand person={session.name} />
        </>
      }
      onDone={() => void navigate({ to: "/" })}
    />
  );
}
