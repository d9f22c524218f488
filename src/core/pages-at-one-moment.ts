/** Reads of total and page until they agree: a client that follows the pages must not miss a row. */
const LOOKS = 10

export async function pageAtOneMoment<Count extends { readonly total: number }, Row>(
  count: () => Promise<Count>,
  rows: (counted: Count) => Promise<Row[]>,
): Promise<{ readonly rows: Row[]; readonly total: number }> {
  let counted = await count()
  for (let look = 1; ; look++) {
    const found = await rows(counted)
    const now = await count()
    if (now.total === counted.total || look === LOOKS) return { rows: found, total: counted.total }
    counted = now
  }
}
