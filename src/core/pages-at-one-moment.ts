/**
 * Rows may come and go between the statements for a total and for a page. Both are looked at again then, because a client
 * that follows the pages must not miss one. So often, while they never stop coming.
 */
const LOOKS = 10

/** The rows of a page, with the total of the same moment. `rows`: of the moment after that count. */
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
