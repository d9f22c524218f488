import { Filled } from '../../../web/shared/filled.tsx'
import { fill } from '../../../web/shared/words.ts'
import type { LinkNotice } from '../views.ts'
import type { PageContext } from './context.ts'
import { Moment } from './times.tsx'

export function LinkNote({ notice, context }: { notice: LinkNotice; context: PageContext }) {
  const { words, texts } = context
  const { name, sender, arrived, message, endsAt, left } = notice
  if ([name, sender, arrived, message, endsAt, left].every((each) => each === null)) return null
  return (
    <aside aria-label={texts.madeLink.message} className="link-note">
      {name === null ? null : (
        <strong>
          <bdi>{name}</bdi>
        </strong>
      )}
      {sender === null ? null : (
        <p className="small quiet">
          <Filled text={texts.madeLink.sender} values={{ sender: <bdi>{sender}</bdi> }} />
        </p>
      )}
      {message === null ? null : (
        <p className="link-message" dir="auto">
          {message}
        </p>
      )}
      {arrived === null ? null : <p className="small">{arrivedText(arrived, context)}</p>}
      {endsAt === null ? null : (
        <p className="small quiet">
          <Filled text={texts.madeLink.ends} values={{ moment: <Moment context={context} iso={endsAt} /> }} />
        </p>
      )}
      {left === null ? null : (
        <p className="small quiet">
          {left === 'yours' ? texts.madeLink.yours : words.count(left, texts.madeLink.left)}{' '}
          {texts.madeLink.noPreview}
        </p>
      )}
    </aside>
  )
}

function arrivedText(
  { files, ofFiles, bytes, ofBytes }: NonNullable<LinkNotice['arrived']>,
  { words, texts }: PageContext,
): string {
  if (ofFiles === null) return texts.madeLink.moreMayCome
  const count = fill(words.count(ofFiles, texts.madeLink.arrived), { here: words.number(files) })
  if (ofBytes === null) return count
  return `${count} ${fill(texts.madeLink.arrivedBytes, { here: words.size(bytes), all: words.size(ofBytes) })}`
}
