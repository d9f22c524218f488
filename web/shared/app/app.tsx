import { type ReactNode, useMemo, useState } from 'react'
import { zoneHere } from '../../../src/domain/days.ts'
import { ProofDialog } from '../dialogs/proof-dialog.tsx'
import { Said, type Saying } from '../said.tsx'
import { ThemeProvider } from '../theme-provider.tsx'
import { createWords } from '../words.ts'
import { AppContext, type AppTexts } from './app-context.ts'

interface AppProps {
  readonly locale: string
  readonly texts: AppTexts
  readonly children: ReactNode
}

export function App({ locale, texts, children }: AppProps) {
  const [said, setSaid] = useState<Saying>({ text: '' })
  const [asking, setAsking] = useState<((isProved: boolean) => void) | null>(null)
  const tools = useMemo(() => {
    const prove = () => new Promise<boolean>((resolve) => setAsking(() => resolve))
    const say = (text: string) => setSaid({ text })
    return { locale, texts, words: createWords(locale, zoneHere()), say, prove }
  }, [locale, texts])
  return (
    <ThemeProvider>
      <AppContext value={tools}>
        {children}
        {asking === null ? null : (
          <ProofDialog
            end={(isProved) => {
              setAsking(null)
              asking(isProved)
            }}
          />
        )}
        <div className="notices">
          <Said saying={said} />
        </div>
      </AppContext>
    </ThemeProvider>
  )
}
