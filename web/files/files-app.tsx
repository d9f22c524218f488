import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { zoneHere } from '../../src/domain/days.ts'
import type { Saying } from '../shared/said.tsx'
import { titleOf } from '../shared/site-name.ts'
import { ThemeProvider } from '../shared/theme-provider.tsx'
import { createWords } from '../shared/words.ts'
import type { UploadEngine } from '../uploads/engine.ts'
import { createCommands, type OpenDialog } from './commands.ts'
import type { FilesPageData } from './data.ts'
import { DetailsPanel } from './details/details-panel.tsx'
import { DialogOf } from './dialogs/dialog-of.tsx'
import { FilesContext } from './files-context.ts'
import { FolderPane } from './folders/folder-pane.tsx'
import { PathBar } from './folders/path-bar.tsx'
import { EntryList } from './list/entry-list.tsx'
import { Toolbar } from './list/toolbar.tsx'
import { useDrops } from './list/use-drops.ts'
import { isTouchDevice } from './list/use-entry-events.ts'
import type { Manager } from './manager.ts'
import { NoticeList } from './notices.tsx'
import type { Preferences } from './preferences.ts'
import { selectedCount } from './selection/selection.ts'
import { StorageLine } from './storage-line.tsx'
import { UploadsButton } from './uploads/uploads-button.tsx'
import { useLayers } from './use-layers.ts'
import { usePlace } from './use-place.ts'
import { useRefresh } from './use-refresh.ts'

interface FilesAppProps {
  readonly data: FilesPageData
  readonly engine: UploadEngine
  readonly manager: Manager
  readonly preferences: Preferences
}

export function FilesApp({ data, engine, manager, preferences }: FilesAppProps) {
  const shown = useSyncExternalStore(manager.subscribe, manager.snapshot)
  const [look, setLook] = useState(() => preferences.read().look)
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const [hasDetails, showDetails] = useState(false)
  const leaveMenu = useRef<(() => void) | null>(null)
  const [hasMenu, setHasMenu] = useState(false)
  const [said, setSaid] = useState<Saying>({ text: '' })
  const go = usePlace(manager)
  const words = useMemo(() => createWords(data.locale, zoneHere()), [data])
  const commands = useMemo(
    () =>
      createCommands({
        manager,
        data,
        words,
        go,
        show: setDialog,
        showDetails,
        say: (text) => setSaid({ text }),
      }),
    [manager, data, words, go],
  )
  const setLeaveMenu = useCallback((leave: (() => void) | null) => {
    leaveMenu.current = leave
    setHasMenu(leave !== null)
  }, [])
  const files = useMemo(
    () => ({ data, texts: data.texts, words, shown, manager, commands, setLeaveMenu }),
    [data, words, shown, manager, commands, setLeaveMenu],
  )
  const isHeld = useDrops(files, engine)
  /** While entries are selected, touch does not open them. */
  const closeDetails = () => {
    showDetails(false)
    if (isTouchDevice()) manager.selectNone()
    // The focused button went with the panel.
    document.querySelector<HTMLElement>(HEIR)?.focus()
  }
  const isOver = hasDetails && isNarrow()
  // A dialog replaces its menu. A mouse click outside closes a menu.
  const hasLayer = dialog !== null || (hasMenu && isTouchDevice())
  // Touch selection is a mode, which Back ends.
  const isSelecting =
    !hasDetails && isTouchDevice() && selectedCount(shown.selection, manager.listing.total() ?? 0) > 0
  useLayers([hasLayer, isOver, isSelecting].filter(Boolean).length, () => {
    if (dialog !== null) setDialog(null)
    else if (leaveMenu.current !== null) leaveMenu.current()
    else if (isOver) closeDetails()
    else manager.selectNone()
  })
  useRefresh(manager, engine)
  useTitle(shown.tree?.find(shown.query.place)?.name ?? null)
  const { sort, order } = shown.query
  useEffect(() => preferences.write({ sort, order, look }), [preferences, sort, order, look])

  return (
    <ThemeProvider>
      <FilesContext value={files}>
        <div className="files-layout" data-details={hasDetails}>
          <FolderPane />
          <section aria-label={data.texts.list} className="files-main" data-heir={HEIR} data-over={isHeld}>
            <PathBar />
            <Toolbar engine={engine} look={look} setLook={setLook} />
            <EntryList look={look} />
            <div className="files-foot">
              <NoticeList said={said} />
              <StorageLine />
              <UploadsButton engine={engine} />
            </div>
          </section>
          {hasDetails ? <DetailsPanel close={closeDetails} /> : null}
        </div>
        {dialog === null ? null : <DialogOf close={() => setDialog(null)} dialog={dialog} engine={engine} />}
      </FilesContext>
    </ThemeProvider>
  )
}

/** Gets the focus when its button goes with the selection or a message. */
const HEIR = '[data-row][tabindex="0"], .empty-list'

function isNarrow(): boolean {
  return matchMedia('(max-width: 1099px)').matches
}

/** Null keeps the title of the document. */
function useTitle(name: string | null): void {
  useEffect(() => {
    if (name === null) return
    const before = document.title
    document.title = titleOf(name)
    return () => {
      document.title = before
    }
  }, [name])
}
