import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { fetchClient } from "~/api/client";
import { failureOf } from "~/api/errors";
import type { Session } from "~/api/session";
import { IconButton } from "~/ui/button";
import { DropdownMenu } from "~/ui/dropdown-menu";
import { THEME_CHOICES, type ThemeChoice, themeStore } from "~/ui/theme-choice";
import { showToast } from "~/ui/toast";
import { useStore } from "~/ui/use-store";

const THEME_WORDS: Readonly<Record<ThemeChoice, string>> = { auto: "As the system", light: "Light", dark: "Dark" };

interface UserMenuProps {
  readonly session: Session;
  readonly onZone: () => void;
  readonly onHelp: () => void;
}

/** Theme, zone, keys, password, sign out. */
export function UserMenu({ session, onZone, onHelp }: UserMenuProps) {
  const theme = useStore(themeStore);
  const navigate = useNavigate();
  const signOut = useSignOut();
  return (
    <DropdownMenu
      end
      label="Account"
      trigger={(props) => <IconButton {...props} icon="user" label={`Account of ${session.name}`} />}
      groups={[
        {
          id: "theme",
          label: "Theme",
          entries: THEME_CHOICES.map((choice) => ({
            id: choice,
            label: THEME_WORDS[choice],
            current: choice === theme,
            run: () => themeStore.set(choice),
          })),
        },
        {
          id: "page",
          entries: [
            { id: "zone", label: "Time zone…", run: onZone },
            { id: "help", label: "Keys on this page", hint: "?", run: onHelp },
          ],
        },
        {
          id: "account",
          label: session.name,
          entries: [
            { id: "password", label: "Change password…", run: () => void navigate({ to: "/account/password" }) },
            { id: "sign-out", label: "Sign out", run: () => signOut.mutate() },
          ],
        },
      ]}
    />
  );
}

function useSignOut() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async () => {
      const { error } = await fetchClient.DELETE("/api/v1/session");
      if (error !== undefined) throw error;
    },
    onSuccess: async () => {
      await navigate({ to: "/login" });
      // Nothing of what was read may be left for whoever comes next.
      queries.clear();
    },
    onError: (error) => {
      const failure = failureOf(error);
      showToast({ state: "unavailable", title: "Could not sign out", detail: failure.detail });
    },
  });
}
