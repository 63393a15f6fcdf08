import { linkStore } from "~/api/changes";
import { Banner } from "~/ui/banner";
import { Button } from "~/ui/button";
import { useStore } from "~/ui/use-store";
import { RelativeTime } from "~/ui/values";

/** Says that the server cannot be reached, and when it is back. */
export function LinkBanner() {
  const link = useStore(linkStore);
  if (link.state === "lost") {
    return (
      <Banner
        state="stale"
        word="offline"
        action={
          <Button size="small" onClick={() => window.location.reload()}>
            Load again
          </Button>
        }
      >
        No connection to the Pegel server; lost <RelativeTime at={link.since} />. What you see is from before.
      </Banner>
    );
  }
  if (link.state === "back") {
    return (
      <Banner state="ok" word="connected again">
        The server answers again, after a break or a restart. Everything in sight is being read anew.
      </Banner>
    );
  }
  return null;
}
