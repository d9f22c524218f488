import { TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { DialogActions } from '../../shared/dialogs/dialog-actions.tsx'
import { fill } from '../../shared/words.ts'
import { createFolder, renameEntry } from '../client.ts'
import type { Entry } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { FilesDialog } from './dialog.tsx'
import { useListAttempt } from './use-attempt.ts'

export function NewFolderDialog({ close }: { close: () => void }) {
  const { texts, shown, manager, commands } = useFiles()
  const { place } = shown.query
  return (
    <NameDialog
      act={async (name) => {
        await createFolder(name, place)
        commands.say(fill(texts.announced.created, { name }))
        void manager.refresh()
      }}
      close={close}
      ending={0}
      name=""
      title={texts.dialogs.newFolder}
      verb={texts.dialogs.create}
    />
  )
}

export function RenameDialog({ entry, close }: { entry: Entry; close: () => void }) {
  const { texts, manager } = useFiles()
  return (
    <NameDialog
      act={async (name) => {
        void manager.renamed(entry, await renameEntry(entry, name))
      }}
      close={close}
      ending={entry.kind === 'file' ? endingOf(entry.name) : 0}
      name={entry.name}
      title={fill(texts.dialogs.rename, { name: entry.name })}
      verb={texts.actions.rename}
    />
  )
}

interface NameDialogProps {
  readonly title: string
  readonly name: string
  /** Characters at the end that are initially not selected. */
  readonly ending: number
  readonly verb: string
  readonly close: () => void
  /** Throws RequestFailure. */
  readonly act: (name: string) => Promise<void>
}

function NameDialog({ title, name: before, ending, verb, close, act }: NameDialogProps) {
  const { texts } = useFiles()
  const [name, setName] = useState(before)
  const { problem, isBusy, attempt } = useListAttempt()
  // The server would take a file's name for a path and keep its last segment.
  const hasSlash = /[/\\]/.test(name)
  const field = useRef<HTMLInputElement>(null)

  useEffect(() => {
    field.current?.focus()
    field.current?.setSelectionRange(0, before.length - ending)
  }, [before, ending])

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (name.trim() === '' || hasSlash) return
    if (name === before) close()
    else void attempt(() => act(name.trim()), close)
  }

  return (
    <FilesDialog close={close} title={title}>
      <form className="dialog-form" onSubmit={submit}>
        <TextInput
          autoComplete="off"
          error={hasSlash ? texts.dialogs.noSlash : problem}
          label={texts.dialogs.name}
          maxLength={255}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          ref={field}
          spellCheck={false}
          value={name}
        />
        <DialogActions
          cancel={close}
          cancelText={texts.dialogs.cancel}
          isDisabled={isBusy || name.trim() === '' || hasSlash}
          verb={verb}
        />
      </form>
    </FilesDialog>
  )
}

function endingOf(name: string): number {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.length - dot : 0
}
