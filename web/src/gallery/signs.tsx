import { useState } from "react";
import { ENVIRONMENTS } from "~/lib/environment";
import { Age } from "~/ui/age";
import { Button, ButtonLink, IconButton } from "~/ui/button";
import { CellValue } from "~/ui/cell-value";
import { CommandLine } from "~/ui/command-line";
import { CopyButton } from "~/ui/copy-button";
import { EnvironmentBar, EnvironmentTag } from "~/ui/environment";
import { FiveLevels } from "~/ui/five-levels";
import { Kbd } from "~/ui/kbd";
import { KeyValue } from "~/ui/key-value";
import { Panel } from "~/ui/panel";
import { SearchInput } from "~/ui/search-input";
import { Segmented } from "~/ui/segmented";
import { Sparkline } from "~/ui/sparkline";
import { STATES, type StateName } from "~/ui/state";
import { StateChip, Tag } from "~/ui/state-chip";
import { UptimeStrip } from "~/ui/uptime-strip";
import {
  ByteSize,
  Change,
  DecimalNumber,
  Duration,
  ExactNumber,
  Measure,
  Mono,
  Offset,
  RelativeTime,
  Time,
  Unknown,
} from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { ago, CLUSTERS, WAVE } from "./fixtures";
import { Flow, Section, Stack } from "./section";

export function Signs() {
  return (
    <>
      <Section title="States">
        <Panel title="States, everywhere the same">
          <Flow>
            {(Object.keys(STATES) as StateName[]).map((state) => (
              <StateChip key={state} state={state} />
            ))}
            <Tag>log table</Tag>
          </Flow>
        </Panel>
        <Panel title="With words of their own">
          <Flow>
            <StateChip state="critical">12 buckets under min ISR</StateChip>
            <StateChip state="partial">partial 7 of 8 buckets</StateChip>
            <StateChip state="stale">stale 42 s</StateChip>
            <StateChip state="no_data">metrics not scraped</StateChip>
            <StateChip state="unsupported">needs Fluss 1.0</StateChip>
          </Flow>
        </Panel>
        <Panel title="Five levels" side="cluster · replication · requests · storage · runtime">
          <Stack>
            {CLUSTERS.map((cluster) => (
              <Flow key={cluster.id}>
                <FiveLevels levels={cluster.levels} />
                <b>{cluster.id}</b>
                <EnvironmentTag environment={cluster.environment} />
              </Flow>
            ))}
          </Stack>
        </Panel>
        <Panel title="Environments">
          <Stack>
            {ENVIRONMENTS.map((environment) => (
              <div key={environment}>
                <EnvironmentBar environment={environment} />
                <EnvironmentTag environment={environment} />
              </div>
            ))}
          </Stack>
        </Panel>
        <Panel title="Ages">
          <Stack>
            <Age at={ago(4_000)} intervalMs={5_000} live />
            <Age at={ago(12_000)} intervalMs={15_000} source="metrics" />
            <Age at={ago(95_000)} intervalMs={15_000} source="metrics" />
            <Age at={ago(240_000)} intervalMs={15_000} failure="connection refused" />
            <Age at={undefined} intervalMs={15_000} source="metrics" />
          </Stack>
        </Panel>
        <Panel title="Lines and strips">
          <Stack>
            <Flow>
              <Sparkline values={WAVE} label="messages in, last hour, 23 to 57 per second" />
              <Measure value={41.23} unit="k/s" />
            </Flow>
            <Flow>
              <Sparkline
                values={WAVE.map((value, index) => (index > 24 && index < 36 ? null : value))}
                label="the same with a gap"
              />
              <span>a gap stays a gap</span>
            </Flow>
            <Flow>
              <Sparkline values={WAVE.map(() => null)} label="nothing" />
            </Flow>
            {CLUSTERS.map((cluster) => (
              <Flow key={cluster.id}>
                <UptimeStrip slots={cluster.slots} span="last 24 h" />
              </Flow>
            ))}
          </Stack>
        </Panel>
      </Section>
      <Values />
      <Controls />
    </>
  );
}

function Values() {
  return (
    <Section title="Values">
      <Panel title="Figures">
        <KeyValue
          items={[
            ["count", <ExactNumber key="v" value="9007199254740993" unit="rows" />],
            ["zero", <ExactNumber key="v" value="0" />],
            ["not known", <ExactNumber key="v" value={undefined} />],
            ["decimal(38)", <DecimalNumber key="v" value="12345678901234567890123456789012.345600" />],
            ["offset", <Offset key="v" value="9007199254740993" />],
            ["size", <ByteSize key="v" value="40265318" />],
            ["rate", <ByteSize key="v" value="117440512" per="s" />],
            ["measure", <Measure key="v" value={0.41234} unit="1/s" />],
            ["span", <Duration key="v" ms={125_000} />],
            ["short span", <Duration key="v" ms={0.3} />],
          ]}
        />
      </Panel>
      <Panel title="Times">
        <KeyValue
          items={[
            ["nanoseconds", <Time key="v" at="2026-11-30T02:16:02.114000001Z" />],
            ["second", <Time key="v" at="2026-11-30T02:16:02.114Z" precision="second" />],
            ["time of day", <Time key="v" at="2026-11-30T02:16:02.114Z" precision="time" />],
            ["relative", <RelativeTime key="v" at={ago(250_000)} />],
            ["ahead", <RelativeTime key="v" at={ago(-7_300_000)} />],
            ["never", <Time key="v" at={undefined} />],
            ["not a time", <Time key="v" at="+275760-09-13T00:00:00Z" />],
          ]}
        />
      </Panel>
      <Panel title="Cells">
        <KeyValue
          items={[
            ["NULL", <CellValue key="v" value={null} />],
            ["empty text", <CellValue key="v" value="" />],
            ["zero", <CellValue key="v" value="0" numeric />],
            ["absent", <CellValue key="v" value={undefined} />],
            ["text", <CellValue key="v" value="NULL" />],
            ["boolean", <CellValue key="v" value={false} />],
            ["bytes", <CellValue key="v" value={{ encoding: "hex", data: "00ff10" }} />],
            ["JSON", <CellValue key="v" value={{ json: '{"a": 9007199254740993}' }} />],
            ["long", <CellValue key="v" value={"a long text ".repeat(60)} onOpen={() => undefined} />],
          ]}
        />
      </Panel>
      <Panel title="Hidden characters">
        <KeyValue
          items={[
            ["override", <VisibleText key="v" text={"invoice\u202egnp.exe"} />],
            ["zero width", <VisibleText key="v" text={"pay\u200bment"} />],
            ["edges", <VisibleText key="v" text=" shop.clicks " />],
            ["controls", <VisibleText key="v" text={"a\u0000b\tc\nd\u001b[31m"} />],
            ["joined", <VisibleText key="v" text="👩‍💻 Łódź" />],
          ]}
        />
      </Panel>
      <Panel title="Changes">
        <Flow>
          <Change type="+A" />
          <Change type="+I" />
          <Change type="-U" />
          <Change type="+U" />
          <Change type="-D" />
          <Mono>ts-2:9123</Mono>
          <Unknown />
        </Flow>
      </Panel>
    </Section>
  );
}

function Controls() {
  const [start, setStart] = useState<"beginning" | "recent" | "wait" | "offset" | "time">("recent");
  const [range, setRange] = useState<"1h" | "6h" | "24h">("6h");
  const [typed, setTyped] = useState("clicks");
  return (
    <Section title="Controls">
      <Panel title="Buttons">
        <Stack>
          <Flow>
            <Button look="primary">Open incident</Button>
            <Button>Acknowledge</Button>
            <Button look="danger">Drop table</Button>
            <Button look="quiet" icon="refresh">
              Refresh
            </Button>
          </Flow>
          <Flow>
            <Button disabledReason="Needs fluss-plugin.operations.catalog.delete (admin)">Drop…</Button>
            <Button look="primary" disabledReason="Needs ≥ 3 alive tablet servers: 2 alive" reasonBeside>
              Start
            </Button>
          </Flow>
          <Flow>
            <Button look="primary" busy>
              Sending
            </Button>
            <Button size="small" icon="terminal">
              as CLI
            </Button>
            <ButtonLink size="small" href="#states" icon="link">
              A link
            </ButtonLink>
            <IconButton icon="more" label="More actions" />
            <CopyButton text="9007199254740993" what="offset" />
            <CopyButton text="x" what="link">
              Copy link
            </CopyButton>
          </Flow>
        </Stack>
      </Panel>
      <Panel title="Choices">
        <Stack>
          <Segmented
            label="Start"
            value={start}
            onChange={setStart}
            options={[
              { value: "beginning", label: "Beginning" },
              { value: "recent", label: "Recent rows" },
              { value: "wait", label: "Wait for new" },
              { value: "offset", label: "Offset" },
              { value: "time", label: "Time" },
            ]}
          />
          <Segmented
            label="Range"
            size="small"
            value={range}
            onChange={setRange}
            options={[
              { value: "1h", label: "1h" },
              { value: "6h", label: "6h" },
              { value: "24h", label: "24h", disabledReason: "Kept for 12 hours only" },
            ]}
          />
          <SearchInput label="Search tables" value={typed} onChange={setTyped} slash />
          <Flow>
            <Kbd keys="mod+k" /> <Kbd keys="g c" /> <Kbd keys="?" /> <Kbd keys="mod+Enter" />
          </Flow>
        </Stack>
      </Panel>
      <Panel title="As a command">
        <CommandLine
          cli="pegel tables scan orders-eu shop.clicks --recent 100 --where 'event_type = '\''PAID'\'''"
          curl={`curl -sS \\\n  -X POST \\\n  -H "Authorization: Bearer $PEGEL_TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  --data-raw '{"limit":100}' \\\n  http://localhost:8080/api/v1/clusters/orders-eu/operations/tables/scan`}
        />
      </Panel>
    </Section>
  );
}
