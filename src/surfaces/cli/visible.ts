/**
 * Text of a file as a terminal may show it: control characters become signs of the same width (␛ for escape), so that nothing
 * moves the cursor or changes a colour, and a mark below still stands under its place. Line breaks stay.
 */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const point = character.charCodeAt(0);
    if (character === "\n") return character;
    if (point < 0x20) return String.fromCharCode(0x2400 + point);
    return point === 0x7f ? "␡" : "�";
  });
}
