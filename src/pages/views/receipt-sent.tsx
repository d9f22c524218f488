import { fill } from '../../../web/shared/words.ts'
import type { ReceiptContribution } from '../../contract/receipts.ts'
import { ASKED_FIELDS } from '../../domain/upload-terms.ts'
import type { PageContext } from './context.ts'
import {
  arrivedSoFar,
  Elsewhere,
  Ending,
  ReceiptHead,
  ReceiptLayout,
  type ReceiptProps,
} from './receipt-parts.tsx'

interface SentProps extends ReceiptProps {
  readonly sent: ReceiptContribution
}

export function SentPage({ sent, view, context }: SentProps) {
  const { texts, words } = context
  const { receipt } = texts
  const { name, owner, link, created_at } = sent
  const size = words.size(sent.size ?? sent.received)
  const facts = arrivedSoFar(sent, context) ?? fill(receipt.sent, { size, moment: words.moment(created_at) })
  return (
    <ReceiptLayout context={context} title={name} view={view}>
      <main className="receipt">
        <ReceiptHead
          done={view.done === 'received' ? texts.uploadLink.received : null}
          facts={facts}
          name={name}
          what={fill(receipt.sentTo, { owner })}
        />
        <Said context={context} sent={sent} />
        {link === null ? null : (
          <p>
            <a className="button button-quiet" href={new URL(link.url).pathname}>
              {receipt.sendAnother}
            </a>
          </p>
        )}
        {sent.sha256 === null ? null : (
          <details className="receipt-part">
            <summary>{texts.files.app.details.technical}</summary>
            <dl className="receipt-facts">
              <dt className="quiet small">SHA-256</dt>
              <dd>{sent.sha256}</dd>
            </dl>
          </details>
        )}
        <Elsewhere context={context} view={view} />
        {sent.can_withdraw ? (
          <Ending
            action={view.action}
            begin={receipt.withdraw}
            confirm={receipt.withdrawForGood}
            why={fill(receipt.withdrawWhy, { owner })}
          />
        ) : (
          <p className="quiet small">{fill(receipt.stays, { owner })}</p>
        )}
      </main>
    </ReceiptLayout>
  )
}

function Said({ sent, context }: { sent: ReceiptContribution; context: PageContext }) {
  const { receipt, uploadLink } = context.texts
  const { link } = sent
  const said = ASKED_FIELDS.flatMap((field) => {
    const answer = sent[field]
    return answer === null || answer === '' ? [] : [[uploadLink.labels[field], answer] as const]
  })
  const rows = [...(link?.name == null ? [] : [[receipt.sentFor, link.name] as const]), ...said]
  if (rows.length === 0) return null
  return (
    <dl className="receipt-facts">
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt className="quiet small">{label}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}
