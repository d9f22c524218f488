import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { OneTimeLink } from '../../../src/contract/administration.ts'
import { CodeBox } from '../../shared/app/code-box.tsx'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { useAttempt } from '../../shared/app/use-attempt.ts'
import { Dialog } from '../../shared/dialogs/dialog.tsx'
import { DialogActions } from '../../shared/dialogs/dialog-actions.tsx'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { useMoments } from '../use-moments.ts'

interface LinkDialogProps {
  readonly title: string
  readonly why: string
  readonly verb: string
  /** What the link is for. */
  readonly label: string
  /** Whether something ends by it. */
  readonly isDeletion?: boolean
  readonly close: () => void
  /** Throws RequestFailure. */
  readonly act: () => Promise<OneTimeLink>
  /** What may be chosen before. */
  readonly children?: ReactNode
}

/** Makes a link that works once, and shows it this once. */
export function LinkDialog(props: LinkDialogProps) {
  const { title, why, verb, label, isDeletion = false, close, act, children } = props
  const { texts } = useAdmin()
  const [link, setLink] = useState<OneTimeLink | null>(null)
  const { problem, isBusy, attempt } = useAttempt()
  return (
    <Dialog
      close={close}
      closeText={texts.common.close}
      isHeld={link !== null}
      isWide={link !== null}
      title={title}
      why={link === null ? why : label}
    >
      {link === null ? (
        <>
          {children}
          <ProblemMessage text={problem} />
          <DialogActions
            cancel={close}
            cancelText={texts.common.cancel}
            act={() => void attempt(act, setLink)}
            isAsking
            isDeletion={isDeletion}
            isDisabled={isBusy}
            verb={verb}
          />
        </>
      ) : (
        <MadeLink close={close} link={link} />
      )}
    </Dialog>
  )
}

function MadeLink({ link, close }: { link: OneTimeLink } & Pick<LinkDialogProps, 'close'>) {
  const { texts } = useAdmin()
  const moment = useMoments()
  return (
    <>
      <CodeBox label={texts.link.label} text={link.url} />
      <p className="quiet">
        {texts.link.once} {fill(texts.link.ends, { time: moment(link.expires_at) })}
      </p>
      <div className="dialog-actions">
        <Button onClick={close} variant="default">
          {texts.link.done}
        </Button>
      </div>
    </>
  )
}
