import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { showToast } from "~/ui/toast";
import { ChangePasswordForm } from "./change-password";

export function PasswordPage({ onDone }: { readonly onDone: () => void }) {
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
    </>
  );
}
