import type { ReactNode } from 'react'
import { Dialog as SharedDialog } from '../../shared/dialogs/dialog.tsx'
import { useFiles } from '../files-context.ts'
import { SignedOutNote } from '../signed-out.tsx'

interface DialogProps {
  readonly title: string
  readonly close: () => void
  readonly children: ReactNode
  readonly isWide?: boolean
  readonly isHeld?: boolean
}

export function FilesDialog({ children, ...props }: DialogProps) {
  return (
    <SharedDialog closeText={useFiles().texts.dialogs.close} {...props}>
      <SignedOutNote />
      {children}
    </SharedDialog>
  )
}
