import type { TakenDown } from '../../../src/contract/administration.ts'
import { ConfirmDialog } from '../../shared/dialogs/confirm-dialog.tsx'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'

interface TakeDownDialogProps {
  /** Of the file, or the content. */
  readonly name: string
  readonly close: () => void
  /** Throws RequestFailure. */
  readonly act: () => Promise<TakenDown>
  readonly then: () => void | Promise<void>
}

/** Says what taking down does, and asks for it. */
export function TakeDownDialog({ name, close, act, then }: TakeDownDialogProps) {
  const { texts, words, say } = useAdmin()
  const { takeDown } = texts
  return (
    <ConfirmDialog
      act={async () => say(words.count((await act()).files, takeDown.done))}
      close={close}
      then={then}
      title={fill(takeDown.of, { name })}
      verb={takeDown.verb}
      why={takeDown.why}
    />
  )
}
