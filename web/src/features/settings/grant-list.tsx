import { Fragment } from "react";
import { Mono, Unknown } from "~/ui/values";

/** Patterns beside each other, broken only between two. */
export function GrantList({ grants }: { readonly grants: readonly string[] }) {
  if (grants.length === 0) return <Unknown>none</Unknown>;
  return grants.map((grant) => (
    <Fragment key={grant}>
      <Mono>{grant}</Mono>{" "}
    </Fragment>
  ));
}
