import { useState } from "react";
import { Banner } from "~/ui/banner";
import { Breadcrumb } from "~/ui/breadcrumb";
import { Button } from "~/ui/button";
import { CodeBlock, JsonView } from "~/ui/code-block";
import { type Command, CommandPalette } from "~/ui/command-palette";
import { Dialog } from "~/ui/dialog";
import { Diff, Phrase } from "~/ui/diff";
import { DropdownMenu } from "~/ui/dropdown-menu";
import {
  CheckboxField,
  FieldStack,
  PasswordField,
  PrefixedField,
  SwitchField,
  TextAreaField,
  TextField,
} from "~/ui/fields";
import { HelpSheet } from "~/ui/help-sheet";
import { Panel } from "~/ui/panel";
import { Stat, StatRow } from "~/ui/stat";
import { StateChip, Tag } from "~/ui/state-chip";
import { Tabs } from "~/ui/tabs";
import { Timeline } from "~/ui/timeline";
import { showToast, ToastItem } from "~/ui/toast";
import { Mono } from "~/ui/values";
import { zoneStore } from "~/ui/zone";
import { ZoneSelect } from "~/ui/zone-select";
import { Flow, Section, Stack } from "./section";

const COMMANDS: readonly Command[] = [
  { id: "overview", label: "Overview", group: "Pages", keys: "g c", run: () => undefined },
  { id: "dashboard", label: "Dashboard", group: "Pages", hint: "orders-eu", run: () => undefined },
  { id: "shop.clicks", label: "shop.clicks", group: "Tables", hint: "orders-eu · log table", run: () => undefined },
  {
    id: "shop.orders",
    label: "shop.orders",
    group: "Tables",
    hint: "orders-eu · primary key table",
    run: () => undefined,
  },
  { id: "theme", label: "Use the dark theme", group: "Actions", run: () => undefined },
];

export function Surfaces() {
  return (
    <>
      <Section title="Surfaces">
        <Incident />
        <Rebalance />
        <Panel title="Append to shop.clicks" side={<StateChip state="outcome_unknown" />}>
          <Stack>
            <p>The connection broke after the request was sent. It may have been carried out.</p>
            <Flow>
              <Button look="primary">Check now</Button>
            </Flow>
          </Stack>
        </Panel>
        <Overlays />
        <Forms />
        <Texts />
      </Section>
      <Section title="Big figures" wide>
        <StatRow>
          <Stat label="Coordinators" value="1" of="of 1" />
          <Stat label="Tablet servers" value="2" of="of 3" tone="bad" />
          <Stat label="Offline buckets" value="0" />
          <Stat label="Tables" value="412" />
          <Stat label="Buckets" unknown="not scraped" />
        </StatRow>
        <div>
          <Banner state="stale" word="offline" action={<Button size="small">Try now</Button>}>
            No connection to the server since 03:12:40. What you see is from before.
          </Banner>
          <Banner state="outcome_unknown" word="server restarted">
            The server was restarted. Rows and figures are being read again.
          </Banner>
        </div>
      </Section>
    </>
  );
}

function Incident() {
  return (
    <Panel title="What happened" side="times in Europe/Berlin">
      <Timeline
        label="Timeline"
        events={[
          {
            id: "1",
            at: "2026-11-30T02:12:38.4Z",
            tone: "warn",
            text: "write p99 rises on ts-0",
            evidence: "12 → 480 ms · metrics",
          },
          {
            id: "2",
            at: "2026-11-30T02:12:40.0Z",
            tone: "bad",
            text: "ts-2 fails its protocol probe",
            evidence: "connect ok 0.3 ms · no answer to negotiation within 5 s",
          },
          { id: "3", at: "2026-11-30T02:12:42.0Z", text: "delivered: PagerDuty 202 in 140 ms, Slack ok in 95 ms" },
          {
            id: "4",
            at: "2026-11-30T02:12:44.7Z",
            tone: "unknown",
            text: "held back under this incident: 9 monitors",
            evidence: "replication, snapshot age ×3, …",
          },
          {
            id: "5",
            at: "2026-11-30T02:17:02.1Z",
            tone: "ok",
            text: "ts-2 answers again",
            evidence: "negotiation 3 ms",
          },
        ]}
      />
    </Panel>
  );
}

function Rebalance() {
  return (
    <Panel title="Start rebalance" side={<Tag>dry run</Tag>}>
      <Stack>
        <Diff
          label="Plan"
          lines={[
            { kind: "same", text: "goals  RACK_AWARE, REPLICA_DISTRIBUTION" },
            { kind: "removed", text: "leaders ts-0 171 · ts-1 180 · ts-2 61" },
            { kind: "added", text: "the coordinator computes the moves and starts at once" },
          ]}
        />
        <Phrase>START REBALANCE RACK_AWARE,REPLICA_DISTRIBUTION</Phrase>
        <Button look="primary" disabledReason="Needs ≥ 3 alive tablet servers: 2 alive" reasonBeside>
          Start
        </Button>
      </Stack>
    </Panel>
  );
}

function Overlays() {
  const [shown, setShown] = useState<"dialog" | "palette" | "help">();
  const [sure, setSure] = useState(false);
  const close = () => setShown(undefined);
  return (
    <Panel title="Dialogs, menus, notices">
      <Stack>
        <Flow>
          <Button onClick={() => setShown("dialog")}>Open dialog</Button>
          <Button onClick={() => setShown("palette")}>Open palette</Button>
          <Button onClick={() => setShown("help")}>Open key help</Button>
          <DropdownMenu
            label="Theme"
            trigger={(props) => (
              <Button {...props} icon="sun">
                Theme
              </Button>
            )}
            groups={[
              {
                id: "theme",
                label: "Theme",
                entries: [
                  { id: "auto", label: "As the system", current: true },
                  { id: "light", label: "Light", current: false },
                ],
              },
              {
                id: "more",
                entries: [
                  { id: "link", label: "A link", href: "#states" },
                  { id: "off", label: "Sign out", disabledReason: "Not signed in" },
                ],
              },
            ]}
          />
          <Button onClick={() => showToast({ state: "ok", title: "Table created", detail: "shop.clicks, 12 buckets" })}>
            Notify
          </Button>
        </Flow>
        <ToastItem
          content={{ state: "ok", title: "Table created", detail: "shop.clicks, 12 buckets" }}
          onClose={() => undefined}
        />
        <ToastItem
          content={{ state: "critical", title: "The server said no", detail: "TABLE_ALREADY_EXISTS: shop.clicks" }}
          onClose={() => undefined}
        />
        <ToastItem
          content={{
            state: "outcome_unknown",
            title: "Append may have been written",
            detail: "The answer was lost after sending.",
          }}
          onClose={() => undefined}
        />
      </Stack>
      {shown === "dialog" && (
        <Dialog
          title="Drop table shop.clicks"
          environment="production"
          target={
            <>
              <Mono>orders-eu</Mono> <Mono>shop.clicks</Mono>
            </>
          }
          onClose={close}
          foot={
            <>
              <Button look="danger" disabledReason={sure ? undefined : "Tick the box above"} reasonBeside>
                Drop table
              </Button>
              <Button look="quiet" onClick={close}>
                Cancel
              </Button>
            </>
          }
        >
          <Diff
            label="Plan"
            lines={[{ kind: "removed", text: "shop.clicks · 12 buckets · 9,007,199,254,740,993 rows" }]}
          />
          <Phrase>DROP TABLE shop.clicks</Phrase>
          <CheckboxField label="I know that this cannot be undone" checked={sure} onChange={setSure} />
        </Dialog>
      )}
      {shown === "palette" && <CommandPalette commands={COMMANDS} onClose={close} />}
      {shown === "help" && <HelpSheet onClose={close} />}
    </Panel>
  );
}

function Forms() {
  const [name, setName] = useState("");
  const [secret, setSecret] = useState("");
  const [readOnly, setReadOnly] = useState(true);
  const [scrape, setScrape] = useState(true);
  const [where, setWhere] = useState("event_type = 'PAID'");
  return (
    <Panel title="Fields">
      <FieldStack>
        <TextField
          label="Name"
          description="Letters, digits and hyphens; it cannot be changed later"
          placeholder="orders-eu"
          required
          value={name}
          onChange={setName}
        />
        <TextField
          label="Bootstrap servers"
          mono
          value="coordinator"
          error="An address is host:port"
          onChange={() => undefined}
        />
        <PasswordField label="Password" autoComplete="new-password" value={secret} onChange={setSecret} />
        <TextAreaField label="Comment" rows={2} value="" onChange={() => undefined} />
        <CheckboxField
          label="Read-only"
          description="Pegel refuses every change, whoever asks"
          checked={readOnly}
          onChange={setReadOnly}
        />
        <SwitchField label="Scrape metrics" checked={scrape} onChange={setScrape} />
        <SwitchField
          label="Remote log"
          checked={false}
          disabledReason="The cluster has none"
          onChange={() => undefined}
        />
        <ZoneSelect onChange={zoneStore.set} />
        <Flow>
          <PrefixedField label="rows" value="100" width={40} onChange={() => undefined} />
          <PrefixedField label="where" value={where} mono width={150} onChange={setWhere} />
        </Flow>
      </FieldStack>
    </Panel>
  );
}

function Texts() {
  const [tab, setTab] = useState<"json" | "text">("json");
  return (
    <Panel title="Texts">
      <Breadcrumb
        links={[
          <a key="1" href="#states">
            orders-eu
          </a>,
          <a key="2" href="#states">
            Catalog
          </a>,
          <a key="3" href="#states">
            shop
          </a>,
        ]}
        current="clicks"
      />
      <Tabs
        label="Form"
        value={tab}
        onChange={setTab}
        controls="gallery-text"
        tabs={[
          { value: "json", label: "JSON" },
          { value: "text", label: "Text" },
        ]}
      />
      <div id="gallery-text" role="tabpanel" aria-label={tab}>
        {tab === "json" ? (
          <JsonView
            what="payload"
            searchable
            text='{"amount":"146.30","customer":9007199254740993,"tags":["a","b"],"gift":true,"note":null,"empty":{}}'
          />
        ) : (
          <CodeBlock what="server answer" text={"TABLE_NOT_EXIST\n  table shop.clicks does not exist"} />
        )}
      </div>
    </Panel>
  );
}
