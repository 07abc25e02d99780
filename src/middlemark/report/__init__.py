"""What a run says, for people: the HTML report, the terminal's summary and live view.

    analysis.RunFindings ── answer, contender, display, charts, config ──> html · summary
    events of a campaign ── live

Nothing is estimated here and no middleware is known by name.
"""
