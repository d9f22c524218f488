import { FileName } from '../../../../web/shared/file-name.tsx'
import type { FolderPageView } from '../views.ts'
import type { PageContext } from './context.ts'

/**
 * One file of a folder's page. Programs read its `data-name`, `data-size` (bytes), `data-date` (ISO 8601) and the
 * address in its `onclick`; people use the link, which covers the whole item.
 */
export function FileItem(props: { file: FolderPageView['files'][number]; context: PageContext }) {
  const { file, context } = props
  return (
    <li
      className="file-item"
      data-name={file.name}
      data-size={file.size}
      data-date={file.createdAt}
      data-opens={file.slug}
    >
      <img alt="" decoding="async" height="160" loading="lazy" src={file.thumbnailUrl} width="160" />
      <a href={`/d/${file.slug}`}>
        <FileName name={file.name} />
      </a>
      <span className="small quiet">{context.words.size(file.size)}</span>
      <time className="small quiet" dateTime={file.createdAt}>
        {context.words.day(file.createdAt)}
      </time>
    </li>
  )
}

/**
 * Turns `data-opens` of the rendered items into the `onclick` that programs look for. React drops event attributes
 * that are text, and nobody runs this one: the content security policy allows no inline script. React writes every
 * quotation mark of a value as an entity, so that only attributes of our own can match.
 */
export function withOnclick(html: string): string {
  return html.replace(/ data-opens="([A-Za-z0-9]+)"/g, ` onclick="window.location.href='/d/$1'"`)
}
