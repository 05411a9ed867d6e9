"""``ehrkg view``: a page on this machine to browse questions and relations, and to read them blind.

``filters`` and ``browsing`` find, ``evidence`` explains, ``sampling`` and ``desk`` are for readers;
``guard`` decides who is let in, ``serving`` listens.
"""
