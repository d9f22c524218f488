import { MantineProvider } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { keepFocus } from './kept-focus.ts'
import { theme } from './theme.ts'

/** Without Mantine's injected styles: the CSS variables are in theme.css, which needs no script. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  useEffect(keepFocus, [])
  return (
    <MantineProvider
      colorSchemeManager={systemScheme}
      defaultColorScheme="auto"
      getRootElement={() => undefined}
      theme={theme}
      withCssVariables={false}
      withGlobalClasses={false}
    >
      {children}
    </MantineProvider>
  )
}

/** The stylesheets follow the system themselves, so no scheme is stored. */
const systemScheme = {
  get: () => 'auto' as const,
  set() {},
  subscribe() {},
  unsubscribe() {},
  clear() {},
}
