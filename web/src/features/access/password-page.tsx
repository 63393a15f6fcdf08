import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { showToast } from "~/ui/toast";
import { ChangePasswordForm, PasswordCommand } from "./change-password";

interface PasswordPageProps {
  /** Who is signed in. */
  readonly person: string;
  readonly onDone: () => void;
}

export function PasswordPage({ person, onDone }: PasswordPageProps) {
  return (
    <>
      <PageTitle>Change your password</PageTitle>
      <div style={{ maxWidth: 440 }}>
        <Panel>
          <ChangePasswordForm
            onDone={() => {
              showToast({ state: "ok", title: "Password changed", detail: "Your other sessions have ended." });
              onDone();
            }}
          />
        </Panel>
      </div>
      <PasswordCommand person={person} />
    </>
  );
}
