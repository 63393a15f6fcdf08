// What of Mantine is used (choice fields and the like) stands inside this provider, so that pages without such parts do not
// load it. It draws with our tokens (theme.css) and makes no <style> element, which the content security policy forbids.
import { createTheme, MantineProvider, rem } from "@mantine/core";
import "@mantine/core/styles/global.layer.css";
import "@mantine/core/styles/UnstyledButton.layer.css";
import "@mantine/core/styles/Input.layer.css";
import "@mantine/core/styles/Popover.layer.css";
import "@mantine/core/styles/ScrollArea.layer.css";
import "@mantine/core/styles/Combobox.layer.css";
import type { ReactNode } from "react";
import { useTheme } from "./theme-choice";

const theme = createTheme({
  fontFamily: "var(--font)",
  fontFamilyMonospace: "var(--mono)",
  cursorType: "pointer",
  defaultRadius: "md",
  respectReducedMotion: true,
  components: {
    Input: {
      vars: (_theme: unknown, props: { multiline?: boolean; error?: unknown }) => ({
        wrapper: {
          "--input-height": props.multiline ? undefined : rem(32),
          "--input-fz": rem(13),
          "--input-bd": props.error ? "var(--bad)" : "var(--line3)",
        },
      }),
    },
    InputWrapper: {
      vars: () => ({
        label: { "--input-label-size": rem(13), "--input-asterisk-color": "var(--bad)" },
        description: { "--input-description-size": rem(12) },
        error: { "--input-error-size": rem(12) },
      }),
    },
    Popover: { defaultProps: { transitionProps: { duration: 0 }, offset: 4, withinPortal: false } },
  },
});

export function KitProvider({ children }: { readonly children: ReactNode }) {
  const scheme = useTheme();
  return (
    <MantineProvider
      theme={theme}
      forceColorScheme={scheme}
      // The document's attribute is set by theme-choice.ts.
      getRootElement={() => undefined}
      withCssVariables={false}
      withGlobalClasses={false}
    >
      {children}
    </MantineProvider>
  );
}
