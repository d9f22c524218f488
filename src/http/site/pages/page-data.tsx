import { PAGE_DATA } from '../../../../web/shared/page-data.ts'

/** What the script of the page is told. Markup cannot end the element, because every `<` is written as JSON escapes it. */
export function PageData({ data }: { data: object }) {
  const json = JSON.stringify(data).replaceAll('<', '\\u003c')
  // As text, React would write entities, which scripts do not resolve.
  return <script dangerouslySetInnerHTML={{ __html: json }} id={PAGE_DATA} type="application/json" />
}
