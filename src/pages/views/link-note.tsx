import { Filled } from '../../../web/shared/filled.tsx'
import type { LinkNotice } from '../views.ts'
import type { PageContext } from './context.ts'
import { Moment } from './times.tsx'

export function LinkNote({ notice, context }: { notice: LinkNotice; context: PageContext }) {
  const { words, texts } = context
  const { name, sender, message, endsAt, left } = notice
  if (name === null && sender === null && message === null && endsAt === null && left === null) return null
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
