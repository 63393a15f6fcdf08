import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Age } from "./age";
import { Announcer } from "./announce";
import { Button } from "./button";
import { CellValue, valueText } from "./cell-value";
import { CopyButton } from "./copy-button";
import { DataTable } from "./data-table";
import { FiveLevels } from "./five-levels";
import { Stat } from "./stat";
import { STATES } from "./state";
import { Offset } from "./values";
import { VisibleText } from "./visible-text";

describe("states", () => {
  it("differ by their word, and loud ones by glyph and fill too", () => {
    const looks = Object.values(STATES);
    expect(new Set(looks.map((look) => look.word)).size).toBe(looks.length);
    const loud = looks.filter((look) => ["ok", "warn", "bad", "stale"].includes(look.tone));
    expect(new Set(loud.map((look) => look.glyph)).size).toBe(loud.length);
  });

  it("of the five levels are read out, and missing evidence is not called ok", () => {
    const ok = { state: "ok" } as const;
    render(
      <FiveLevels
        levels={{
          cluster: ok,
          replication: { state: "critical" },
          requests: ok,
          storage: { state: "unknown" },
          runtime: ok,
        }}
      />,
    );
    expect(
      screen.getByText("Levels: cluster ok, replication critical, requests ok, storage no evidence, runtime ok"),
    ).toBeTruthy();
  });

  it("a figure that is not known is never 0", () => {
    const { container } = render(<Stat label="Buckets" />);
    expect(container.textContent).toBe("Bucketsunknown");
  });
});

describe("values", () => {
  it.each([
    [null, "NULL"],
    ["", '""'],
    ["0", "0"],
    [undefined, "absent"],
    ["NULL", "NULL"],
    [false, "false"],
  ])("%j is drawn as %s", (value, text) => {
    const { container } = render(<CellValue value={value} />);
    expect(container.textContent).toBe(text);
  });

  it("NULL and the text NULL look different", () => {
    const looks = [null, "NULL"].map((value) => render(<CellValue value={value} />).container.innerHTML);
    expect(looks[0]).not.toBe(looks[1]);
  });

  it("an offset keeps its bare digits in the document", () => {
    const { container } = render(<Offset value="9007199254740993" />);
    expect(container.textContent).toBe("9007199254740993");
    expect(container.querySelectorAll("span span").length).toBe(6);
  });

  it("hidden characters are named, and still there to be copied", () => {
    const { container } = render(<VisibleText text={"a\u202eb"} />);
    expect(screen.getByRole("img", { name: "right-to-left override (U+202E)" })).toBeTruthy();
    expect(container.textContent).toBe("a\u202eb");
  });

  it("a long value says how long it is and opens whole", () => {
    const onOpen = vi.fn();
    render(<CellValue value={"x".repeat(2048)} onOpen={onOpen} />);
    fireEvent.click(screen.getByRole("button", { name: "2 KiB · open the whole value" }));
    expect(onOpen).toHaveBeenCalled();
  });

  it("are copied as they are", () => {
    expect(valueText({ json: '{"id":9007199254740993}' })).toBe('{\n  "id": 9007199254740993\n}');
    expect(valueText(null)).toBe("");
  });
});

describe("ages", () => {
  afterEach(() => vi.useRealTimers());

  it("grow by themselves and turn late", () => {
    vi.useFakeTimers({ now: Date.parse("2026-11-30T12:00:00Z") });
    const { container } = render(<Age at="2026-11-30T11:59:48Z" intervalMs={10_000} />);
    expect(container.textContent).toBe("updated 12 s ago");
    expect(container.querySelector("[data-freshness=fresh]")).toBeTruthy();
  });

  it("say why a refresh fails", () => {
    const { container } = render(<Age at={new Date().toISOString()} intervalMs={1000} failure="connection refused" />);
    expect(container.textContent).toContain("refresh fails: connection refused");
  });
});

describe("buttons", () => {
  it("that cannot be pressed say why and do nothing", () => {
    const onClick = vi.fn();
    render(
      <Button disabledReason="Needs admin" onClick={onClick}>
        Drop
      </Button>,
    );
    const button = screen.getByRole("button", { name: "Drop" });
    fireEvent.click(button);
    expect(onClick).not.toHaveBeenCalled();
    expect(document.getElementById(button.getAttribute("aria-describedby") ?? "")?.textContent).toBe("Needs admin");
  });

  it("at work cannot be pressed twice", () => {
    const onClick = vi.fn();
    render(
      <Button busy onClick={onClick}>
        Send
      </Button>,
    );
    fireEvent.click(screen.getByRole("button", { name: "Send" }));
    expect(onClick).not.toHaveBeenCalled();
  });
});

describe("copying", () => {
  it("says when it failed", async () => {
    vi.stubGlobal("isSecureContext", false);
    document.execCommand = () => false;
    render(
      <>
        <CopyButton text="x" what="offset" />
        <Announcer />
      </>,
    );
    fireEvent.click(screen.getByRole("button", { name: "Copy offset" }));
    await waitFor(() => expect(screen.getByRole("status").textContent).toContain("Could not copy offset"));
    vi.unstubAllGlobals();
  });
});

describe("lists", () => {
  const columns = [
    { id: "name", header: "Name", cell: (row: { name: string; size: bigint }) => row.name },
    {
      id: "size",
      header: "Size",
      align: "end",
      cell: (row: { name: string; size: bigint }) => String(row.size),
      sortValue: (row: { size: bigint }) => row.size,
    },
  ] as const;
  const rows = [
    { name: "a", size: 9007199254740992n },
    { name: "b", size: 9007199254740993n },
  ];

  it("sort on a click and tell it", () => {
    render(<DataTable label="Things" columns={columns} rows={rows} rowId={(row) => row.name} />);
    const names = () =>
      screen
        .getAllByRole("row")
        .slice(1)
        .map((row) => row.textContent?.[0]);
    expect(names()).toEqual(["a", "b"]);
    fireEvent.click(screen.getByRole("button", { name: "Size" }));
    expect(screen.getByRole("columnheader", { name: "Size" }).getAttribute("aria-sort")).toBe("descending");
    expect(names()).toEqual(["b", "a"]);
  });

  it("leave the order to the server where it sorts", () => {
    const onSort = vi.fn();
    const served = columns.map((column) => ({ ...column, sortable: true }));
    render(<DataTable label="Things" columns={served} rows={rows} rowId={(row) => row.name} onSort={onSort} />);
    fireEvent.click(screen.getByRole("button", { name: "Size" }));
    expect(onSort).toHaveBeenCalledWith({ id: "size", descending: true });
    expect(screen.getAllByRole("row")[1]?.textContent?.[0]).toBe("a");
  });

  it("open a row by its link without leaving the page, but not with Ctrl", () => {
    const onOpen = vi.fn();
    render(
      <DataTable
        label="Things"
        columns={columns}
        rows={rows}
        rowId={(row) => row.name}
        hrefOf={(row) => `/things/${row.name}`}
        onOpen={onOpen}
      />,
    );
    const link = screen.getByRole("link", { name: "b" });
    expect(link.getAttribute("href")).toBe("/things/b");
    fireEvent.click(link, { ctrlKey: true });
    expect(onOpen).not.toHaveBeenCalled();
    fireEvent.click(link);
    expect(onOpen).toHaveBeenCalledTimes(1);
    expect(onOpen).toHaveBeenCalledWith(rows[1]);
  });

  it("show no rows while they load, and say so", () => {
    render(<DataTable label="Things" columns={columns} rows={[]} rowId={(row) => row.name} loading skeletonRows={3} />);
    expect(screen.getByRole("table").getAttribute("aria-busy")).toBe("true");
    expect(screen.queryAllByRole("cell").length).toBe(0);
  });
});
