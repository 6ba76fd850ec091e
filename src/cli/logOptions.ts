import { LOG_FORMATS, LOG_LEVELS, type LogSettings } from '../base/logFile.ts'
import { parseOneOf } from '../node/settings.ts'
import { option } from './options.ts'

/** The options of every command that runs for long. */
export const logOptions = [
  option('--log-level <level>', `the least severe lines to log: ${LOG_LEVELS.join(', ')}`, {
    env: 'SVCD_LOG_LEVEL',
    parse: parseOneOf(LOG_LEVELS),
    fallback: 'info',
  }),
  option('--log-format <format>', 'json for programs, or pretty for people (default: json; of CometBFT: pretty)', {
    env: 'SVCD_LOG_FORMAT',
    parse: parseOneOf(LOG_FORMATS),
  }),
] as const

/** The flags of those options, for a program that is started with the same settings. */
export const logFlags = ({ logLevel, logFormat }: LogSettings): readonly string[] => [
  ...(logLevel === undefined ? [] : ['--log-level', logLevel]),
  ...(logFormat === undefined ? [] : ['--log-format', logFormat]),
]
