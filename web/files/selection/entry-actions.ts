import type { DrawingName } from '../../shared/drawings/drawings.ts'
import { fill, type Words } from '../../shared/words.ts'
import { BATCH_SIZE } from '../client.ts'
import type { Commands } from '../commands.ts'
import type { Entry } from '../entry.ts'
import type { FilesTexts } from '../texts.ts'

export interface EntryAction {
  readonly label: string
  readonly drawing: DrawingName
  readonly keys?: string
  readonly isDeletion?: boolean
  readonly act: () => void
}

export function entryActions(
  only: Entry | null,
  count: number,
  { texts, words, commands }: { texts: FilesTexts; words: Words; commands: Commands },
): EntryAction[] {
  const { actions } = texts
  const withChosen = (act: (entries: readonly Entry[]) => void) => () => commands.withChosen(act)
  const found: EntryAction[] = []
  if (only !== null) {
    const label = only.kind === 'file' ? texts.details.title : actions.open
    found.push({ label, drawing: 'open', keys: '↵', act: () => commands.open(only) })
  }
  if (only?.kind === 'file') {
    const { url } = only
    found.push({
      label: actions.openPage,
      drawing: 'link',
      act: () => void window.open(new URL(url).pathname),
    })
  }
  if (only?.kind === 'folder') {
    const { id } = only
    found.push({ label: actions.openPage, drawing: 'link', act: () => void window.open(`/f/${id}`) })
  }
  found.push({
    label: only?.kind === 'file' ? actions.download : actions.downloadZip,
    drawing: 'download',
    act: () => void commands.download(),
  })
  found.push({
    label: words.count(count, actions.copyLink),
    drawing: 'copy',
    act: withChosen((entries) => void commands.copyLinks(entries)),
  })
  found.push({
    label: actions.share,
    drawing: 'share',
    act: withChosen((entries) => {
      if (entries.length <= BATCH_SIZE) commands.show({ kind: 'share', entries })
      else commands.say(fill(texts.share.tooMany, { most: words.number(BATCH_SIZE) }))
    }),
  })
  if (only !== null) {
    found.push({
      label: actions.rename,
      drawing: 'pencil',
      keys: 'F2',
      act: () => commands.show({ kind: 'rename', entry: only }),
    })
  }
  found.push({
    label: actions.move,
    drawing: 'move',
    act: withChosen((entries) => commands.show({ kind: 'move', entries })),
  })
  if (only?.kind === 'folder') {
    found.push({
      label: actions.settings,
      drawing: 'lock',
      act: () => commands.show({ kind: 'settings', folder: only }),
    })
  }
  found.push({
    label: actions.remove,
    drawing: 'trash',
    keys: 'Del',
    isDeletion: true,
    act: withChosen((entries) => commands.remove(entries)),
  })
  return found
}
