import { Button, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import type { UploadEngine } from '../../uploads/engine.ts'
import { useFiles } from '../files-context.ts'
import { SelectionBar } from '../selection/selection-bar.tsx'
import type { ListFieldsProps } from './list-fields.tsx'
import { UploadButton } from './upload-button.tsx'

interface ToolbarProps extends ListFieldsProps {
  readonly engine: UploadEngine
}

export function Toolbar({ engine, ...look }: ToolbarProps) {
  const { texts, commands } = useFiles()
  return (
    <div className="toolbar">
      <div className="toolbar-line">
        <SearchField />
        <UploadButton engine={engine} />
        <Button
          className="tool"
          leftSection={<Drawing of="newFolder" />}
          onClick={() => commands.show({ kind: 'new folder' })}
          variant="default"
        >
          {texts.actions.newFolder}
        </Button>
      </div>
      <SelectionBar {...look} />
    </div>
  )
}

/** Milliseconds without input before searching. */
const PAUSE = 150

function SearchField() {
  const { texts, shown, manager } = useFiles()
  const [text, setText] = useState(shown.query.search)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // A trailing space may precede the next word.
  const { search } = shown.query
  useEffect(() => setText((before) => (before.trim() === search ? before : search)), [search])

  function change(next: string): void {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => manager.search(next.trim()), PAUSE)
  }

  return (
    <TextInput
      aria-label={texts.search}
      className="search"
      leftSection={<Drawing of="search" />}
      onChange={({ currentTarget }) => change(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && text !== '') change('')
      }}
      placeholder={texts.search}
      type="search"
      value={text}
    />
  )
}
