// Makes characters visible that could hide something: controls, invisible and bidirectional characters, odd spaces.

export type Segment =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "mark"; readonly text: string; readonly label: string; readonly name: string };

const NAMED: ReadonlyMap<number, readonly [label: string, name: string]> = new Map([
  [0x09, ["TAB", "tab"]],
  [0x0a, ["LF", "line feed"]],
  [0x0d, ["CR", "carriage return"]],
  [0x1b, ["ESC", "escape"]],
  [0x7f, ["DEL", "delete"]],
  [0xa0, ["NBSP", "no-break space"]],
  [0xad, ["SHY", "soft hyphen"]],
  [0x061c, ["ALM", "Arabic letter mark"]],
  [0x180e, ["MVS", "Mongolian vowel separator"]],
  [0x200b, ["ZWSP", "zero-width space"]],
  [0x200c, ["ZWNJ", "zero-width non-joiner"]],
  [0x200d, ["ZWJ", "zero-width joiner"]],
  [0x200e, ["LRM", "left-to-right mark"]],
  [0x200f, ["RLM", "right-to-left mark"]],
  [0x2028, ["LS", "line separator"]],
  [0x2029, ["PS", "paragraph separator"]],
  [0x202a, ["LRE", "left-to-right embedding"]],
  [0x202b, ["RLE", "right-to-left embedding"]],
  [0x202c, ["PDF", "pop directional formatting"]],
  [0x202d, ["LRO", "left-to-right override"]],
  [0x202e, ["RLO", "right-to-left override"]],
  [0x202f, ["NNBSP", "narrow no-break space"]],
  [0x2060, ["WJ", "word joiner"]],
  [0x2066, ["LRI", "left-to-right isolate"]],
  [0x2067, ["RLI", "right-to-left isolate"]],
  [0x2068, ["FSI", "first strong isolate"]],
  [0x2069, ["PDI", "pop directional isolate"]],
  [0x3000, ["IDSP", "ideographic space"]],
  [0xfeff, ["BOM", "byte order mark"]],
  [0xfffd, ["�", "replacement character: the bytes were no valid text"]],
]);

/** The C0 controls by number. */
const CONTROLS =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(
    " ",
  );

const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\u00a0\u180e\u2000-\u200a\u202f\u205f\u3000\u115f\u1160\u3164\uffa0\ufffd]/u;

/**
 * Cuts a text into plain segments and marks. Spaces at the start or the end are marked too, since they are lost to the
 * eye there. Putting all `text` together gives the input again, so that copying stays exact.
 */
export function visibleSegments(input: string): Segment[] {
  const segments: Segment[] = [];
  let plain = "";
  const flush = () => {
    if (plain !== "") segments.push({ kind: "text", text: plain });
    plain = "";
  };
  const characters = Array.from(input);
  const first = characters.findIndex((character) => character !== " ");
  const last = characters.findLastIndex((character) => character !== " ");
  const previousJoins = (index: number) =>
    /\p{Extended_Pictographic}|\ufe0f|\p{M}|\p{L}/u.test(characters[index - 1] ?? "");
  characters.forEach((character, index) => {
    const edge = character === " " && (first === -1 || index < first || index > last);
    // A joiner inside an emoji or between letters does its normal work there.
    const joins =
      character === "\u200d" &&
      previousJoins(index) &&
      index < characters.length - 1 &&
      isPictograph(characters[index + 1]);
    if (!edge && (joins || !INVISIBLE.test(character))) {
      plain += character;
      return;
    }
    flush();
    segments.push(
      edge
        ? { kind: "mark", text: character, label: "·", name: "space" }
        : { kind: "mark", text: character, ...describe(character) },
    );
  });
  flush();
  return segments;
}

export function hasInvisible(input: string): boolean {
  return visibleSegments(input).some((segment) => segment.kind === "mark");
}

function isPictograph(character: string | undefined): boolean {
  return character !== undefined && /\p{Extended_Pictographic}/u.test(character);
}

function describe(character: string): { label: string; name: string } {
  const point = character.codePointAt(0) ?? 0;
  const named = NAMED.get(point);
  const code = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  if (named !== undefined) return { label: named[0], name: `${named[1]} (${code})` };
  const control = CONTROLS[point];
  if (control !== undefined) return { label: control, name: `control character (${code})` };
  return { label: code, name: `invisible character (${code})` };
}
