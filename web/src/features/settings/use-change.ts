import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type Failure, failureOf } from "~/api/errors";
import { useOnceAtATime } from "~/components/use-once-at-a-time";
import { showToast } from "~/ui/toast";

interface Change<T, I> {
  /** Starts it; a second call while it runs does nothing. */
  readonly run: (input: I) => void;
  readonly busy: boolean;
  readonly failure: Failure | undefined;
  readonly result: T | undefined;
}

interface ChangeOptions<T, I> {
  readonly call: (input: I) => Promise<{ data?: T; error?: unknown; response: Response }>;
  /** The lists that are read again, by the start of their path. */
  readonly rereads: readonly string[];
  readonly onDone?: (result: T | undefined) => void;
  /** Says a failure also as a notice, where no dialog shows it. */
  readonly notice?: string;
}

/** One call that changes something, and what became of it. */
export function useChange<T, I = void>({ call, rereads, onDone, notice }: ChangeOptions<T, I>): Change<T, I> {
  const queries = useQueryClient();
  const mutation = useMutation({
    mutationFn: async (input: I) => {
      const { data, error, response } = await call(input);
      if (!response.ok) throw error;
      return data ?? null;
    },
    onSuccess: async (data) => {
      await queries.invalidateQueries({
        predicate: ({ queryKey }) => rereads.some((path) => String(queryKey[1]).startsWith(path)),
      });
      onDone?.(data ?? undefined);
    },
    onError: (error) => {
      if (notice === undefined) return;
      const failure = failureOf(error);
      showToast({ state: "unavailable", title: `${notice}: ${failure.title}`, detail: failure.detail });
    },
  });
  return {
    run: useOnceAtATime((input: I) => mutation.mutateAsync(input)),
    busy: mutation.isPending,
    failure: mutation.error === null ? undefined : failureOf(mutation.error),
    result: mutation.data ?? undefined,
  };
}
