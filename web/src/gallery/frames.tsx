import { Age } from "~/ui/age";
import { Banner } from "~/ui/banner";
import { Breadcrumb } from "~/ui/breadcrumb";
import { Button, IconButton } from "~/ui/button";
import { BrandMark, Frame, JumpButton, RailBadge, RailCluster, RailFoot, RailGroup, railBrandClass } from "~/ui/frame";
import { Kbd } from "~/ui/kbd";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { Stat, StatRow } from "~/ui/stat";
import { StateChip } from "~/ui/state-chip";
import { ago } from "./fixtures";

/** The frame as a page of its own, since it fills the window. */
export default function Frames() {
  const rail = (
    <nav aria-label="Main">
      <a href="#overview" className={railBrandClass}>
        <BrandMark />
      </a>
      <RailCluster name="orders-eu" environment="production" />
      <RailGroup>
        <a href="#overview" aria-current="page">
          Overview
        </a>
      </RailGroup>
      <RailGroup title="Cluster">
        <a href="#overview">Dashboard</a>
        <a href="#overview">
          Diagnostics <RailBadge count={1} what="categories at risk" bad />
        </a>
        <a href="#overview">Operations</a>
      </RailGroup>
      <RailGroup title="Watch">
        <a href="#overview">
          Incidents <RailBadge count={1} what="open incidents" bad />
        </a>
        <a href="#overview">
          Monitors <RailBadge count={14} what="monitors" />
        </a>
        <a href="#overview">Alerting</a>
      </RailGroup>
      <RailFoot>
        <span>signed in · editor</span>
        <span>
          Europe/Berlin <Kbd keys="?" onRail />
        </span>
      </RailFoot>
    </nav>
  );
  return (
    <Frame
      environment="production"
      rail={rail}
      crumb={
        <Breadcrumb
          links={[
            <a key="1" href="#overview">
              orders-eu
            </a>,
          ]}
          current="Dashboard"
        />
      }
      tools={
        <>
          <Age at={ago(4_000)} intervalMs={5_000} live />
          <JumpButton onClick={() => undefined} />
          <IconButton icon="user" label="Account" />
        </>
      }
      banners={
        <Banner state="stale" word="offline" action={<Button size="small">Try now</Button>}>
          No connection to the server. What you see is from before.
        </Banner>
      }
    >
      <PageTitle>2 of 3 tablet servers answer</PageTitle>
      <StatRow>
        <Stat label="Coordinators" value="1" of="of 1" />
        <Stat label="Tablet servers" value="2" of="of 3" tone="bad" />
        <Stat label="Tables" value="412" />
        <Stat label="Buckets" unknown="not scraped" />
      </StatRow>
      <br />
      <Panel title="Needs you now">
        <StateChip state="critical">ts-2 does not answer</StateChip>
      </Panel>
    </Frame>
  );
}
