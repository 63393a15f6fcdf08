import { useMutation } from "@tanstack/react-query";
import { failureOf } from "~/api/errors";
import { useOnceAtATime } from "~/components/use-once-at-a-time";
import { Button } from "~/ui/button";
import { showToast } from "~/ui/toast";

/** Reads from the cluster what Pegel would else tell from memory. */
export function RefreshButton({ what, read }: { readonly what: string; readonly read: () => Promise<unknown> }) {
  const mutation = useMutation({
    mutationFn: read,
    onError: (error) => {
      const failure = failureOf(error);
      showToast({ state: "unavailable", title: `Could not read the ${what} anew`, detail: failure.detail });
    },
  });
  const run = useOnceAtATime(() => mutation.mutateAsync());
  return (
    <Button icon="refresh" onClick={run} busy={mutation.isPending}>
      Read from the cluster
    </Button>
  );
}
