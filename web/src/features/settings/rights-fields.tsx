import type { Role, Scope } from "~/api/access";
import { splitPatterns } from "~/lib/grants";
import { parseScope, scopeText } from "~/lib/scope-text";
import { TextAreaField } from "~/ui/fields";
import { Segmented } from "~/ui/segmented";

export interface RightsDraft {
  readonly role: Role;
  /** Whether the grants are those of the role. */
  readonly ofRole: boolean;
  readonly grants: string;
  readonly allClusters: boolean;
  readonly scope: string;
}

export const PLAIN_RIGHTS: RightsDraft = { role: "viewer", ofRole: true, grants: "", allClusters: true, scope: "" };

export function rightsDraft(of: {
  readonly role: Role;
  readonly grants: readonly string[];
  readonly has_default_grants?: boolean;
  readonly scope: Scope;
}): RightsDraft {
  return {
    role: of.role,
    ofRole: of.has_default_grants ?? false,
    grants: of.grants.join("\n"),
    allClusters: of.scope === "all",
    scope: scopeText(of.scope),
  };
}

export function rightsBody(draft: RightsDraft): { role: Role; grants: string[] | null; scope: Scope } {
  return {
    role: draft.role,
    grants: draft.ofRole ? null : splitPatterns(draft.grants),
    scope: draft.allClusters ? "all" : (parseScope(draft.scope) as Scope),
  };
}

interface RightsFieldsProps {
  readonly draft: RightsDraft;
  readonly onChange: (draft: RightsDraft) => void;
  readonly errors: ReadonlyMap<string, string> | undefined;
  /** Tokens name their grants; users may have those of their role. */
  readonly mayHaveThoseOfRole: boolean;
}

/** What someone may do, and where. */
export function RightsFields({ draft, onChange, errors, mayHaveThoseOfRole }: RightsFieldsProps) {
  const set = (change: Partial<RightsDraft>) => onChange({ ...draft, ...change });
  return (
    <>
      <Segmented
        label="Role"
        value={draft.role}
        onChange={(role) => set({ role })}
        options={[
          { value: "viewer", label: "viewer" },
          { value: "editor", label: "editor" },
          { value: "admin", label: "admin" },
        ]}
      />
      {mayHaveThoseOfRole && (
        <Segmented
          label="Grants"
          size="small"
          value={draft.ofRole ? "role" : "own"}
          onChange={(value) => set({ ofRole: value === "role" })}
          options={[
            { value: "role", label: "grants of the role" },
            { value: "own", label: "grants of its own" },
          ]}
        />
      )}
      {!draft.ofRole && (
        <TextAreaField
          label="Grants"
          description="Patterns, one a line; * is one segment, as in pegel.clusters.*"
          mono
          value={draft.grants}
          onChange={(grants) => set({ grants })}
          error={errors?.get("/grants")}
        />
      )}
      <Segmented
        label="Clusters"
        size="small"
        value={draft.allClusters ? "all" : "some"}
        onChange={(value) => set({ allClusters: value === "all" })}
        options={[
          { value: "all", label: "all clusters" },
          { value: "some", label: "only some" },
        ]}
      />
      {!draft.allClusters && (
        <TextAreaField
          label="Only these clusters"
          description="A cluster a line, with patterns of tables after it to narrow it: lab sales.*"
          mono
          value={draft.scope}
          onChange={(scope) => set({ scope })}
          error={errors?.get("/scope")}
        />
      )}
    </>
  );
}
