import { failureOf } from "~/api/errors";
import { DeniedState, UnavailableState } from "~/ui/list-states";

interface FailureViewProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
  readonly retrying?: boolean;
}

/** What stands in place of a list or page that could not be read. */
export function FailureView({ error, onRetry, retrying }: FailureViewProps) {
  const failure = failureOf(error);
  const permission = failure.code === "permission_denied" ? permissionIn(failure.detail) : undefined;
  if (permission !== undefined) {
    return <DeniedState title={failure.title} permission={permission} granter="An administrator" />;
  }
  return (
    <UnavailableState
      title={failure.title}
      requestId={failure.requestId}
      // Asking again does not help where the answer was a refusal.
      onRetry={failure.status !== undefined && failure.status < 500 ? undefined : onRetry}
      retrying={retrying ?? false}
    >
      {failure.detail}
      {failure.hint !== undefined && ` ${failure.hint}`}
    </UnavailableState>
  );
}

/** The pattern that a refusal names, as "pegel.clusters.read". */
function permissionIn(detail: string): string | undefined {
  return /\b(?:pegel|fluss-plugin)(?:\.[a-z_-]+)+/.exec(detail)?.[0];
}
