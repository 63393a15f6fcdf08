import { expect, it } from "vitest";
import { sentence } from "./sentence";

it.each([
  ["the stored secret cannot be read", "The stored secret cannot be read."],
  ["  It is there. ", "It is there."],
  ["", ""],
])("%j reads %j", (text, expected) => {
  expect(sentence(text)).toBe(expected);
});
