import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import type { FolderPageView } from '../views.ts'
import type { PageContext } from './context.ts'

type Step = FolderPageView['above'][number]

/** Outermost folder first; collapses the middle of a long path. */
export function FoldersAbove(props: { above: readonly Step[]; context: PageContext }) {
  const { above, context } = props
  const [first, ...others] = above
  if (first === undefined) return null
  const last = others.slice(-2)
  const between = others.at(-3)
  return (
    <nav aria-label={context.texts.folder.above}>
      <ol className="above">
        <li>
          <a href={first.url}>
            <Drawing of="folder" />
            <bdi>{first.name}</bdi>
          </a>
        </li>
        {between === undefined ? null : (
          <li>
            <a aria-label={between.name} href={between.url}>
              …
            </a>
          </li>
        )}
        {last.map((step) => (
          <li key={step.url}>
            <a href={step.url}>
              <bdi>{step.name}</bdi>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  )
}
