import { watchAccountMenu } from './account-menu.ts'

watchAccountMenu()
