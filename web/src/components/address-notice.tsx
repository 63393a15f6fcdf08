import { useNavigate, useRouter, useRouterState } from "@tanstack/react-router";
import { unknownNames } from "~/lib/search-state";
import { Banner } from "~/ui/banner";
import { Button } from "~/ui/button";

/** Says which parts of the address no one on this page reads: a link of another version, or a mistyped one. */
export function AddressNotice() {
  const router = useRouter();
  const navigate = useNavigate();
  const ignored = useRouterState({
    select: ({ location, matches }) => {
      const known = matches.flatMap(({ routeId }) => {
        const read = router.routesById[routeId].options.validateSearch as { readonly names?: string[] } | undefined;
        return read?.names ?? [];
      });
      return unknownNames(location.search, known).join(", ");
    },
  });
  if (ignored === "") return null;
  const drop = (before: object) =>
    Object.fromEntries(Object.entries(before).filter(([name]) => !ignored.split(", ").includes(name)));
  return (
    <Banner
      state="unknown"
      word="part of the link is ignored"
      action={
        <Button size="small" onClick={() => void navigate({ to: ".", search: drop as never, replace: true })}>
          Take it out
        </Button>
      }
    >
      This page does not know <code>{ignored}</code>; the link may be of another version, or mistyped.
    </Banner>
  );
}
