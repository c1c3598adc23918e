//! Schedules (EXE-08, EXE-19, MNT-04). Nothing sleeps until a moment: each worker asks on start what has
//! become due since the last time.

use jiff::civil::{Time, Weekday};
use jiff::{SignedDuration, Timestamp, ToSpan, Zoned};

/// A recurring schedule in local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunSchedule {
    /// At a fixed interval.
    Every {
        /// The interval in minutes.
        minutes: u32,
    },
    /// Every day at this time.
    Daily {
        /// The hour of the day, local time.
        hour: i8,
        /// The minute of the hour.
        minute: i8,
    },
    /// Once a week, on the hour.
    Weekly {
        /// The day of the week.
        weekday: Weekday,
        /// The hour of the day, local time.
        hour: i8,
    },
    /// On the first of every month.
    Monthly {
        /// The hour of the day, local time.
        hour: i8,
    },
}

impl RunSchedule {
    /// The occurrence that is due at `now` and was not done at `last`: the latest one before now. Missed
    /// occurrences are not made up one by one. A `last` in the future (the clock was set back) blocks the
    /// schedule for at most one period.
    pub fn due_at(self, last: Option<Timestamp>, now: &Zoned) -> Option<Timestamp> {
        if let Self::Every { minutes } = self {
            let period = SignedDuration::from_mins(i64::from(minutes));
            let is_due = last.is_none_or(|last| {
                let since = now.timestamp().duration_since(last);
                since >= period || since < -period
            });
            return is_due.then(|| now.timestamp());
        }
        let latest = self.latest(now)?;
        let now = now.timestamp();
        match last {
            // Never done on this machine: occurrences before its first run do not count.
            None => None,
            Some(last) if last > now && last.duration_since(now) > SignedDuration::from_hours(24) => {
                Some(latest)
            }
            Some(last) => (last < latest).then_some(latest),
        }
    }

    /// The latest occurrence that is not after `now`.
    fn latest(self, now: &Zoned) -> Option<Timestamp> {
        let (hour, minute) = match self {
            Self::Daily { hour, minute } => (hour, minute),
            Self::Weekly { hour, .. } | Self::Monthly { hour } => (hour, 0),
            Self::Every { .. } => return None,
        };
        let time = Time::new(hour, minute, 0, 0).ok()?;
        let fits = |day: jiff::civil::Date| match self {
            Self::Weekly { weekday, .. } => day.weekday() == weekday,
            Self::Monthly { .. } => day.day() == 1,
            _ => true,
        };
        // Going back a month and a day covers one occurrence of each schedule.
        (0..=32).find_map(|back| {
            let day = now.date().checked_sub(back.days()).ok().filter(|day| fits(*day))?;
            let at = day.to_datetime(time).to_zoned(now.time_zone().clone()).ok()?.timestamp();
            (at <= now.timestamp()).then_some(at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Zoned {
        text.parse().unwrap()
    }

    const SIX: RunSchedule = RunSchedule::Daily { hour: 6, minute: 0 };

    #[test]
    fn exe_08_a_day_is_the_persons_day() {
        let last = at("2026-03-01T07:00[Europe/Berlin]").timestamp();
        assert_eq!(SIX.due_at(Some(last), &at("2026-03-02T05:59[Europe/Berlin]")), None);
        let due = SIX.due_at(Some(last), &at("2026-03-02T06:00[Europe/Berlin]")).unwrap();
        assert_eq!(due, at("2026-03-02T06:00[Europe/Berlin]").timestamp());
        // The same instant is still before six elsewhere.
        assert_eq!(SIX.due_at(Some(last), &at("2026-03-01T05:59[America/Los_Angeles]")), None);
    }

    #[test]
    fn mnt_04_a_laptop_that_slept_makes_up_for_it_once() {
        let last = at("2026-03-01T06:00[Europe/Berlin]").timestamp();
        let now = at("2026-03-09T10:00[Europe/Berlin]");
        let due = SIX.due_at(Some(last), &now).unwrap();
        assert_eq!(due, at("2026-03-09T06:00[Europe/Berlin]").timestamp());
        assert_eq!(SIX.due_at(Some(due), &now), None);
    }

    #[test]
    fn the_hour_that_summer_time_swallows_is_made_up_for() {
        let two = RunSchedule::Daily { hour: 2, minute: 30 };
        let last = at("2026-03-28T02:30[Europe/Berlin]").timestamp();
        assert!(two.due_at(Some(last), &at("2026-03-29T04:00[Europe/Berlin]")).is_some());
        // An hour that the clock repeats runs once.
        let last = at("2026-10-24T02:30[Europe/Berlin]").timestamp();
        let first = two.due_at(Some(last), &at("2026-10-25T02:45+02:00[Europe/Berlin]")).unwrap();
        assert_eq!(two.due_at(Some(first), &at("2026-10-25T02:45+01:00[Europe/Berlin]")), None);
    }

    #[test]
    fn weeks_and_months() {
        let weekly = RunSchedule::Weekly { weekday: Weekday::Sunday, hour: 3 };
        let now = at("2026-11-18T10:00[UTC]");
        let last = at("2026-11-14T03:00[UTC]").timestamp();
        assert_eq!(weekly.due_at(Some(last), &now), Some(at("2026-11-15T03:00[UTC]").timestamp()));
        let monthly = RunSchedule::Monthly { hour: 4 };
        assert_eq!(monthly.due_at(Some(last), &now), None);
        let last = at("2026-10-31T03:00[UTC]").timestamp();
        assert_eq!(monthly.due_at(Some(last), &now), Some(at("2026-11-01T04:00[UTC]").timestamp()));
    }

    #[test]
    fn a_clock_that_jumps_back_stops_nothing_for_long() {
        let every = RunSchedule::Every { minutes: 30 };
        let now = at("2026-11-15T10:00[UTC]");
        assert!(every.due_at(Some(at("2027-01-01T00:00[UTC]").timestamp()), &now).is_some());
        assert!(every.due_at(Some(at("2026-11-15T10:05[UTC]").timestamp()), &now).is_none());
        assert!(SIX.due_at(Some(at("2027-01-01T00:00[UTC]").timestamp()), &now).is_some());
    }
}
