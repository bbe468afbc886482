/** Figures in the JSON of a report, whose names are those of the code in another spelling. */

/** Converts names of members such as `pGlobalUpper` to `p_global_upper`; not those within a member. */
export function snakeCase(record: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}
